import './shape-editor.css';
import type { Field } from '../../domain/nouns.ts';
import { compareFields, describe, type FieldChange } from '../edit-shape.ts';
import { Scroll } from './scroll.tsx';
import { TableHead } from './table-head.tsx';

/** The fields of one version, in words. */
export function FieldTable({ fields }: { fields: readonly Field[] }) {
  return (
    <Scroll label="Fields of the shape">
      <table>
        <TableHead columns={['Field', 'What it is']} />
        <tbody>
          {fields.map((field) => (
            <tr key={field.name}>
              <td>{field.name}</td>
              <td>{describe(field)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const badges: Record<FieldChange['kind'], string> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  moved: '',
  same: '',
};

interface ComparedVersion {
  readonly version: number;
  readonly delivery: string;
  readonly format: string;
  readonly fields: readonly Field[];
}

/** Two versions side by side: which fields were added, removed, changed or moved. */
export function Comparison({ from, to }: { from: ComparedVersion; to: ComparedVersion }) {
  const changes = compareFields(from.fields, to.fields);
  const differing = changes.filter(({ kind }) => kind !== 'same').length;
  return (
    <>
      <p>
        {differingText(differing)}{' '}
        {wayOf(from) !== wayOf(to) && `${wayOf(from)} became ${wayOf(to)}.`}
      </p>
      <Scroll label="Comparison">
        <table class="changes">
          <TableHead
            columns={['Field', 'Difference', `Version ${from.version}`, `Version ${to.version}`]}
          />
          <tbody>
            {changes.map((change) => (
              <tr key={`${change.kind} ${change.name}`}>
                <td>{change.name}</td>
                <td>
                  {change.kind !== 'same' && (
                    <span class={`badge ${badges[change.kind]}`}>{change.kind}</span>
                  )}
                </td>
                <td class="before">{change.before && describe(change.before)}</td>
                <td class="after">{change.after && describe(change.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function differingText(fields: number): string {
  if (fields === 0) return 'The fields are the same.';
  return fields === 1 ? 'One field differs.' : `${fields} fields differ.`;
}

function wayOf({ delivery, format }: ComparedVersion): string {
  return delivery === 'document' ? `document (${format})` : delivery;
}
