import './samples.css';
import { useLocation } from 'preact-iso';
import type { readTrace } from '../../domain/api/app/samples.ts';
import { get } from '../api.ts';
import { Copyable } from '../parts/copy.tsx';
import { SandboxBadge, StatusBadge } from '../parts/marks.tsx';
import { bytes } from '../parts/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { ReadFailure } from '../parts/stale.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { exactly, Time } from '../parts/time.tsx';
import { filterIn, labelsIn, labelsTold, pageAddress } from '../samples/filter.ts';
import { chainTold, placeTold, type TraceAnswer } from '../samples/trace-words.ts';
import type { SourceTabProps } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';

/** One sample: its value, every value it had, and the way back to the bytes that gave it. */
export default function Trace({ source }: SourceTabProps) {
  const { query } = useLocation();
  const { source_id: sourceId } = source;
  const { metric = '', period = '', sandbox, labels } = query;
  const path = `/app/api/sources/${sourceId}/trace`;
  const asked = { metric, period, labels, sandbox };
  const { data, error, again } = useRead(`trace ${path} ${JSON.stringify(asked)}`, (signal) =>
    get<typeof readTrace>(path, asked, signal),
  );
  const all = { ...filterIn({}), metric, labels: labelsIn(query), sandbox: sandbox === 'true' };
  return (
    <>
      <p class="crumbs">
        <a href={pageAddress(sourceId, all)}>Samples of {metric}</a>
      </p>
      <ReadFailure error={error} kept={data !== null} />
      {error && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
      {data && <Traced trace={data} sourceId={sourceId} />}
    </>
  );
}

function Traced({ trace, sourceId }: { trace: TraceAnswer; sourceId: string }) {
  const { sample, delivery } = trace;
  return (
    <>
      <h2>
        {sample.metric}, {sample.period_start} {sample.sandbox && <SandboxBadge />}
      </h2>
      {Object.keys(sample.labels).length > 0 && <p class="quiet">{labelsTold(sample.labels)}</p>}
      <p class="value">
        {sample.value} <span class="quiet">{sample.unit}</span>
      </p>
      <p class="chain">{chainTold(trace, exactly(delivery.received_at))}</p>
      <History trace={trace} sourceId={sourceId} />
      <Record trace={trace} />
      <DeliveryFacts delivery={delivery} sourceId={sourceId} />
    </>
  );
}

function History({ trace, sourceId }: { trace: TraceAnswer; sourceId: string }) {
  const { sample, delivery, record, superseded } = trace;
  const { artifact_id, received_at } = delivery;
  const rows = [{ value: sample.value, artifact_id, received_at, record }, ...superseded];
  return (
    <section class="values" aria-label="Every value it had">
      <h3>Every value it had</h3>
      <Scroll label="Table of its values">
        <table>
          <TableHead columns={[{ figures: 'Value' }, 'State', 'Received', 'Record', 'Delivery']} />
          <tbody>
            {rows.map((row, i) => (
              <tr key={`${row.artifact_id} ${row.record}`}>
                <td class="number">{row.value}</td>
                <td>{i === 0 ? <span class="badge good">current</span> : 'superseded'}</td>
                <td class="short">
                  <Time at={row.received_at} />
                </td>
                <td>{row.record}</td>
                <td class="short">
                  <a
                    href={`/sources/${sourceId}/deliveries/${row.artifact_id}`}
                    aria-label={`Delivery ${row.artifact_id}`}
                  >
                    <code>{row.artifact_id.slice(-12)}</code>
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {superseded.length === 0 && <p class="quiet">No delivery gave another value before.</p>}
    </section>
  );
}

function Record({ trace }: { trace: TraceAnswer }) {
  const { fields, fields_cut: cut } = trace;
  return (
    <section aria-label="The record">
      <h3>The record that gave it</h3>
      <p>
        {placeTold(trace)} <span class="quiet">of the body, its content encoding undone</span>
      </p>
      <Scroll label="Fields of the record">
        <table>
          <TableHead columns={['Field', 'Text', 'Gave']} />
          <tbody>
            {fields.map((field) => (
              <tr key={field.name} class={field.gave === 'value' ? 'gave' : undefined}>
                <td>{field.name}</td>
                <td class="field-text">
                  <FieldText {...field} />
                </td>
                <td class="short">{field.gave && `the ${field.gave}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {cut && <p class="quiet">The record is longer; the delivery has all of it.</p>}
    </section>
  );
}

function FieldText({ text, masked }: TraceAnswer['fields'][number]) {
  if (masked) {
    return (
      <>
        ••• <span class="quiet">personal, or not in the shape</span>
      </>
    );
  }
  return text === null ? <span class="quiet">no text</span> : text;
}

function DeliveryFacts(props: { delivery: TraceAnswer['delivery']; sourceId: string }) {
  const { delivery, sourceId } = props;
  const { artifact_id: id, idempotency_keys: keys } = delivery;
  const encoding = delivery.encoding === 'identity' ? '' : `, ${delivery.encoding}`;
  return (
    <section aria-label="The delivery">
      <h3>The delivery</h3>
      <dl class="facts">
        <dt>Artifact</dt>
        <dd>
          <a href={`/sources/${sourceId}/deliveries/${id}`}>{id}</a>{' '}
          <StatusBadge status={delivery.status} />
        </dd>
        <dt>Received</dt>
        <dd>{exactly(delivery.received_at)}</dd>
        <dt>Idempotency keys</dt>
        <dd>{keys.join(', ')}</dd>
        <dt>SHA-256</dt>
        <dd>
          <Copyable text={delivery.sha256} label="the SHA-256" />
        </dd>
        <dt>Body</dt>
        <dd>
          {bytes(delivery.bytes)}, {delivery.media_type}
          {encoding}
        </dd>
        <dt>Read as</dt>
        <dd>
          shape version {delivery.shape_version}, generation {delivery.generation}
          {delivery.parser_version !== null && `, parser ${delivery.parser_version}`}
        </dd>
      </dl>
    </section>
  );
}
