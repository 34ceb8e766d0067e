import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import { type readTrace, recordShownMax } from '../domain/api/app/samples.ts';
import type { Field, Source } from '../domain/nouns.ts';
import { dayToText } from '../domain/periods.ts';
import { labelOf } from '../domain/shapes.ts';
import { type Trace, trace } from '../proof/trace.ts';
import { instant } from '../std/instant.ts';
import type { AppParts } from './parts.ts';

interface Asked {
  readonly metric: string;
  readonly period: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly sandbox?: boolean | undefined;
}

/**
 * The way of a number back to its bytes, as the app shows it.
 *
 * @throws CatalogRefusal as `trace` does
 */
export async function traceView(
  parts: Pick<AppParts, 'catalog' | 'history' | 'locate'>,
  { sourceId, companyId }: Source,
  { metric, period, labels = {}, sandbox = false }: Asked,
): Promise<AnswerOf<typeof readTrace>> {
  const query = { sourceId, metric, period, labels, sandbox, shownMax: recordShownMax };
  const found = await trace(parts, query);
  const declared = await parts.catalog.directory.metrics(companyId);
  const unit = declared.find(({ key }) => key === metric)?.unit ?? '';
  const { sample, record, superseded } = found;
  const ownLabels = JSON.parse(sample.labelsJson) as Record<string, string>;
  const gave = givers(found, metric, ownLabels);
  return {
    sample: {
      ...{ metric, period_start: dayToText(sample.day), value: sample.value, unit, sandbox },
      labels: ownLabels,
    },
    delivery: deliveryView(found),
    record: sample.record,
    line: record.line,
    byte_range: record.bytes,
    fields: Object.entries(record.fields).map(([name, text]) => ({
      ...{ name, text, masked: record.masked.includes(name), gave: gave.get(name) ?? null },
    })),
    fields_cut: record.cut,
    superseded: superseded.map(({ version, delivery }) => ({
      ...{ value: version.value, artifact_id: version.artifactId, record: version.record },
      received_at: instant(delivery.receivedAt),
    })),
  };
}

/** Of the fields that made the sample, what each gave: a value of another metric gave nothing. */
function givers(
  { basis: { standing, underWay } }: Trace,
  metric: string,
  labels: Readonly<Record<string, string>>,
): Map<string, NonNullable<Field['role']>> {
  const { fields } = (standing ?? underWay)!.shape;
  const gave = fields.filter((field) => {
    if (field.role === 'value') return (field.metric ?? metric) === metric;
    return field.role === 'label' ? Object.hasOwn(labels, labelOf(field)) : field.role;
  });
  return new Map(gave.map(({ name, role }) => [name, role!]));
}

function deliveryView({ basis, idempotencyKeys }: Trace) {
  const { delivery, parserVersion } = basis;
  return {
    artifact_id: delivery.artifactId,
    received_at: instant(delivery.receivedAt),
    sha256: delivery.sha256,
    bytes: delivery.bytes,
    delivery: delivery.delivery,
    media_type: delivery.mediaType,
    encoding: delivery.encoding,
    idempotency_keys: [...idempotencyKeys],
    shape_version: delivery.shapeVersion,
    generation: delivery.generation,
    parser_version: parserVersion,
    status: delivery.status,
  };
}
