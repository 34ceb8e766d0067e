import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Facets } from './facets.ts';
import { dayLater, everyMetric, pageAddress, type SamplesFilter } from './filter.ts';

interface FilterFormProps {
  readonly sourceId: string;
  readonly filter: SamplesFilter;
  readonly facets: Facets;
}

/** What begins the names of the inputs of labels, so that they are no other's. */
const labelInput = 'label ';

/** Chooses samples; what is chosen goes into the address. Choices from a list count at once. */
export function FilterForm({ sourceId, filter, facets }: FilterFormProps) {
  const { route } = useLocation();
  const form = useRef<HTMLFormElement>(null);
  const changed = useRef('');
  const here = pageAddress(sourceId, filter);
  // Made anew with the address: who was at an input is there again.
  useEffect(() => {
    const input = form.current?.elements.namedItem(changed.current);
    if (changed.current !== '' && input instanceof HTMLElement) input.focus();
    changed.current = '';
  }, [here]);
  const submit = (event: Event) => {
    event.preventDefault();
    route(pageAddress(sourceId, filter, chosenIn(new FormData(form.current!), filter)));
  };
  const choose = (event: Event) => {
    changed.current = (event.currentTarget as HTMLInputElement).name;
    submit(event);
  };
  return (
    <form class="row samples-filter" key={here} ref={form} onSubmit={submit}>
      <label>
        Metric
        <select name="metric" onChange={choose}>
          {facets.metrics.map(({ key, name }) => (
            <option key={key} value={key} selected={key === filter.metric}>
              {name === key ? key : `${name} (${key})`}
            </option>
          ))}
          <option value={everyMetric} selected={filter.metric === everyMetric}>
            all metrics
          </option>
        </select>
      </label>
      {filter.metric === facets.metric &&
        facets.labels.map((label) => (
          <LabelChoice key={label.name} {...{ label, choose, chosen: filter.labels[label.name] }} />
        ))}
      <label>
        From day
        <input type="date" name="from" defaultValue={filter.from} />
      </label>
      <label>
        Before day
        <input type="date" name="to" defaultValue={filter.to} />
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="sandbox"
          value="true"
          defaultChecked={filter.sandbox}
          onChange={choose}
        />
        With sandbox samples
      </label>
      <button type="submit">Show</button>
      <Windows {...{ sourceId, filter, facets }} />
    </form>
  );
}

interface LabelChoiceProps {
  readonly label: Facets['labels'][number];
  readonly chosen: string | undefined;
  choose(event: Event): void;
}

function LabelChoice({ label: { name, values, cut }, chosen, choose }: LabelChoiceProps) {
  const known = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
  return (
    <label>
      {name}
      {/* Values are prefixed, for a label's text may be empty, which stands for all of them. */}
      <select name={labelInput + name} onChange={choose}>
        <option value="">all{cut && ' (the first are listed)'}</option>
        {known.map((text) => (
          <option key={text} value={`=${text}`} selected={text === chosen}>
            {text === '' ? '(empty)' : text}
          </option>
        ))}
      </select>
    </label>
  );
}

function chosenIn(form: FormData, { labels: before }: SamplesFilter): Partial<SamplesFilter> {
  const text = (name: string) => String(form.get(name) ?? '');
  const labels = { ...before };
  for (const [name, value] of form.entries()) {
    if (!name.startsWith(labelInput)) continue;
    if (value === '') delete labels[name.slice(labelInput.length)];
    else labels[name.slice(labelInput.length)] = String(value).slice(1);
  }
  const [metric, from, to] = [text('metric'), text('from'), text('to')];
  return { metric, from, to, labels, sandbox: form.get('sandbox') === 'true' };
}

const windows = [
  ['30 days', 30],
  ['12 months', 365],
  ['5 years', 1_826],
] as const;

/** Windows that end with the newest sample. */
function Windows({ sourceId, filter, facets }: FilterFormProps) {
  const days = facets.metrics
    .filter(({ key }) => key === filter.metric || filter.metric === everyMetric)
    .map(({ last_day }) => last_day)
    .sort();
  const last = days.at(-1);
  if (last === undefined) return null;
  const to = dayLater(last, 1);
  return (
    <span class="windows">
      {windows.map(([name, length]) => (
        <a key={name} href={pageAddress(sourceId, filter, { from: dayLater(to, -length), to })}>
          Last {name}
        </a>
      ))}
      <a href={pageAddress(sourceId, filter, { from: '', to: '' })}>All days</a>
    </span>
  );
}
