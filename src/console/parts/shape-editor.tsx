import './shape-editor.css';
import { useEffect, useRef } from 'preact/hooks';
import type { Grain, Metric } from '../../domain/nouns.ts';
import type { ShapeProblem } from '../../domain/shapes.ts';
import { type EditedField, emptyField, moved } from '../edit-shape.ts';

const roles = [
  ['', 'none: kept, not read'],
  ['period', 'period: when it was'],
  ['value', 'value: the number'],
  ['label', 'label: what it is of'],
  ['metric', 'metric: its key'],
] as const;
const grains: readonly Grain[] = ['day', 'week', 'month', 'quarter', 'year'];

interface EditorProps {
  readonly fields: readonly EditedField[];
  readonly metrics: readonly Metric[];
  readonly problem: (ShapeProblem & { readonly id: number | null }) | null;
  onChange(fields: readonly EditedField[]): void;
}

/** The declared fields in order: each can be changed, moved and removed, problems stand beside. */
export function ShapeEditor({ fields, metrics, problem, onChange }: EditorProps) {
  const focusNext = useRef<string | null>(null);
  useEffect(() => {
    // A button that was moved along with its field has lost the focus.
    if (focusNext.current) document.getElementById(focusNext.current)?.focus();
    focusNext.current = null;
  });
  const set = (i: number, change: Partial<EditedField>) =>
    onChange(fields.with(i, { ...fields[i]!, ...change }));
  const move = (i: number, by: -1 | 1) => {
    focusNext.current = `field-${fields[i]!.id}-${by === -1 ? 'up' : 'down'}`;
    onChange(moved(fields, i, by));
  };
  const remove = (i: number) => {
    focusNext.current = 'add-field';
    onChange(fields.filter((_, at) => at !== i));
  };
  const add = () => {
    const field = emptyField();
    focusNext.current = `field-${field.id}-name`;
    onChange([...fields, field]);
  };
  return (
    <>
      <ol class="fields" aria-label="Fields">
        {fields.map((field, i) => (
          <FieldCard
            key={field.id}
            {...{ field, metrics }}
            place={{ first: i === 0, last: i === fields.length - 1, number: i + 1 }}
            problem={problem?.id === field.id ? problem.message : null}
            set={(change) => set(i, change)}
            move={(by) => move(i, by)}
            remove={() => remove(i)}
          />
        ))}
      </ol>
      {problem && problem.id === null && <p class="problem">{problem.message}</p>}
      <button type="button" id="add-field" onClick={add}>
        Add a field
      </button>
    </>
  );
}

interface CardProps {
  readonly field: EditedField;
  readonly metrics: readonly Metric[];
  readonly place: { readonly first: boolean; readonly last: boolean; readonly number: number };
  readonly problem: string | null;
  set(change: Partial<EditedField>): void;
  move(by: -1 | 1): void;
  remove(): void;
}

function FieldCard({ field, metrics, place, problem, set, move, remove }: CardProps) {
  const id = `field-${field.id}`;
  return (
    <li class={problem ? 'wrong' : undefined}>
      <div class="row">
        <label class="name">
          Field {place.number}
          <input
            id={`${id}-name`}
            value={field.name}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem !== null}
            aria-describedby={problem ? `${id}-problem` : undefined}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </label>
        <label>
          Role
          <select
            value={field.role}
            onChange={(event) => set(roleOf(event.currentTarget.value, field))}
          >
            {roles.map(([role, text]) => (
              <option key={role} value={role}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <OfRole {...{ field, metrics, set }} />
      </div>
      <div class="row">
        <Check text="Required" on={field.required} set={(required) => set({ required })} />
        {field.role === '' && (
          <Check text="Personal" on={field.personal} set={(personal) => set({ personal })} />
        )}
        <Moves {...{ id, field, place, move, remove }} />
      </div>
      {problem && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </li>
  );
}

/** A personal field has no role, so the mark goes with it. */
function roleOf(text: string, field: EditedField): Partial<EditedField> {
  const role = roles.find(([one]) => one === text)![0];
  return { role, personal: role === '' && field.personal };
}

function Check(props: { text: string; on: boolean; set(on: boolean): void }) {
  const { text, on, set } = props;
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} />
      {text}
    </label>
  );
}

function OfRole({ field, metrics, set }: Pick<CardProps, 'field' | 'metrics' | 'set'>) {
  if (field.role === 'period') {
    return (
      <label>
        Grain
        <select
          value={field.grain}
          onChange={(event) => set({ grain: event.currentTarget.value as Grain })}
        >
          {grains.map((grain) => (
            <option key={grain}>{grain}</option>
          ))}
        </select>
      </label>
    );
  }
  if (field.role === 'value') {
    const known = metrics.some(({ key }) => key === field.metric) || field.metric === '';
    return (
      <label>
        Metric
        <select
          value={field.metric}
          onChange={(event) => set({ metric: event.currentTarget.value })}
        >
          <option value="">named by a metric field</option>
          {!known && <option value={field.metric}>{field.metric} (not declared)</option>}
          {metrics.map(({ key, name }) => (
            <option key={key} value={key}>
              {name} ({key})
            </option>
          ))}
        </select>
      </label>
    );
  }
  if (field.role !== 'label') return null;
  return (
    <label>
      Label
      <input
        value={field.label}
        placeholder={field.name}
        autocomplete="off"
        onInput={(event) => set({ label: event.currentTarget.value })}
      />
    </label>
  );
}

function Moves(props: Pick<CardProps, 'field' | 'place' | 'move' | 'remove'> & { id: string }) {
  const { id, field, place, move, remove } = props;
  const what = field.name === '' ? `field ${place.number}` : field.name;
  return (
    <span class="moves">
      <button
        type="button"
        id={`${id}-up`}
        aria-label={`Move ${what} up`}
        aria-disabled={place.first}
        onClick={() => move(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        id={`${id}-down`}
        aria-label={`Move ${what} down`}
        aria-disabled={place.last}
        onClick={() => move(1)}
      >
        ↓
      </button>
      <button type="button" aria-label={`Remove ${what}`} onClick={remove}>
        Remove
      </button>
    </span>
  );
}
