import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { asLocal, fromLocal, type ListFilter, listAddress, narrows } from './filter.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const sandboxes = [
  ['', 'with sandbox'],
  ['false', 'without sandbox'],
  ['true', 'only sandbox'],
] as const;

interface FilterFormProps {
  readonly sourceId: string;
  readonly filter: ListFilter;
  /** Whether the form before this one was sent: who did is at its button again. */
  readonly sent: { current: boolean };
}

/** Narrows the list; what is chosen goes into the address. An artifact id leads to its delivery. */
export function FilterForm({ sourceId, filter, sent }: FilterFormProps) {
  const { route } = useLocation();
  const button = useRef<HTMLButtonElement>(null);
  const here = listAddress(sourceId, filter);
  useEffect(() => {
    if (sent.current) button.current?.focus();
    sent.current = false;
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    const key = text('key').trim();
    if (uuid.test(key)) {
      route(`/sources/${sourceId}/deliveries/${key.toLowerCase()}`);
      return;
    }
    const [from, to] = [fromLocal(text('from')), fromLocal(text('to'))];
    const marks = {
      sandbox: text('sandbox'),
      conflicting: text('conflicting'),
      rejecting: text('rejecting'),
    };
    const next = listAddress(sourceId, filter, { key, from, to, ...marks });
    sent.current = next !== here;
    route(next);
  };
  return (
    // Made anew when the address changes, never by what is read meanwhile: typing is not lost.
    <form class="row" key={here} onSubmit={submit}>
      <label>
        Received from
        <input type="datetime-local" name="from" defaultValue={asLocal(filter.from)} />
      </label>
      <label>
        Received before
        <input type="datetime-local" name="to" defaultValue={asLocal(filter.to)} />
      </label>
      <label>
        Idempotency key or artifact id
        <input
          name="key"
          type="search"
          maxLength={200}
          placeholder="the key, or its beginning"
          defaultValue={filter.key ?? ''}
        />
      </label>
      <label>
        Sandbox
        <select name="sandbox">
          {sandboxes.map(([value, name]) => (
            <option key={value} value={value} selected={value === (filter.sandbox ?? '')}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Check name="rejecting" on={filter.rejecting} text="Records rejected" />
      <Check name="conflicting" on={filter.conflicting} text="Key came again with other bytes" />
      <button type="submit" ref={button}>
        Filter
      </button>
      {narrows(filter) && <a href={`/sources/${sourceId}/deliveries`}>Clear</a>}
    </form>
  );
}

function Check({ name, on, text }: { name: string; on: string | undefined; text: string }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" defaultChecked={on === 'true'} />
      {text}
    </label>
  );
}
