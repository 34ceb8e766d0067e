import type { DeliveryWay, DocumentFormat, Metric } from '../../domain/nouns.ts';
import { declaredFields, type EditedField, problemOf } from '../edit-shape.ts';
import { ShapeEditor } from './shape-editor.tsx';

export interface EditedSource {
  readonly name: string;
  readonly delivery: DeliveryWay;
  readonly format: DocumentFormat;
  readonly fields: readonly EditedField[];
}

const ways = [
  ['push', 'push: one record as JSON, with a key'],
  ['document', 'document: a file of many records, with a key'],
  ['webhook', 'webhook: signed by the sender, no key'],
] as const;
const formats: readonly DocumentFormat[] = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet'];

interface FormProps {
  readonly source: EditedSource;
  readonly metrics: readonly Metric[];
  /** Nothing was changed yet: nobody is told of problems. */
  readonly untouched?: boolean;
  set(source: EditedSource): void;
}

/** All that a save of a source keeps: name, way, format and the declared fields. */
export function SourceFields({ source, metrics, untouched = false, set }: FormProps) {
  return (
    <>
      <div class="row">
        <label>
          Name
          <input
            value={source.name}
            autocomplete="off"
            required
            maxLength={200}
            onInput={(event) => set({ ...source, name: event.currentTarget.value })}
          />
        </label>
        <label>
          Delivery way
          <select
            value={source.delivery}
            onChange={(event) =>
              set({ ...source, delivery: event.currentTarget.value as DeliveryWay })
            }
          >
            {ways.map(([way, text]) => (
              <option key={way} value={way}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {source.delivery === 'document' && (
          <label>
            Format
            <select
              value={source.format}
              onChange={(event) =>
                set({ ...source, format: event.currentTarget.value as DocumentFormat })
              }
            >
              {formats.map((format) => (
                <option key={format}>{format}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      <h2>Fields</h2>
      <p class="quiet">
        What a record holds. One period; values of declared metrics; a label for each label that
        they carry. Personal fields stay in the stored delivery and never reach a sample.
      </p>
      {metrics.length === 0 && (
        <p>
          No metric is declared yet. <a href="/metrics">Declare one</a> first.
        </p>
      )}
      <ShapeEditor
        fields={source.fields}
        metrics={metrics}
        problem={untouched ? null : problemOf(source.fields, metrics)}
        onChange={(fields) => set({ ...source, fields })}
      />
    </>
  );
}

/** As the service takes it. */
export function bodyOf({ name, delivery, format, fields }: EditedSource) {
  return { name: name.trim(), delivery, format, fields: declaredFields(fields) };
}

/** Shows the first problem to who wants to save: the focus goes to the field that it is at. */
export function pointAtProblem({ fields }: EditedSource, metrics: readonly Metric[]): boolean {
  const problem = problemOf(fields, metrics);
  if (!problem) return false;
  document.getElementById(problem.id === null ? 'add-field' : `field-${problem.id}-name`)?.focus();
  return true;
}
