import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { declareMetric, listMetrics, renameMetric } from '../../domain/api/app/metrics.ts';
import { get, post } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Notice } from '../parts/notice.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import { useAct } from '../use-act.ts';
import { useRead } from '../use-read.ts';

type Metric = AnswerOf<typeof listMetrics>['metrics'][number];

/** The metrics of the company: declared once, renamed at will, their labels never change. */
export default function Metrics() {
  const manages = mayManage(useSignedIn());
  const [renaming, setRenaming] = useState<Metric | null>(null);
  const { data, error, again } = useRead('metrics', (signal) =>
    get<typeof listMetrics>('/app/api/metrics', {}, signal),
  );
  return (
    <>
      <h1>Metrics</h1>
      <p class="quiet">
        What is measured: each sample is a number of one metric, at one period, with the metric's
        labels.
      </p>
      <Failure error={error} />
      {data?.metrics.length === 0 && (
        <p>
          No metric is declared yet.{' '}
          {manages ? 'Declare the first below, then make a source that sends it.' : ''}
        </p>
      )}
      {data && data.metrics.length > 0 && (
        <MetricTable metrics={data.metrics} rename={manages ? setRenaming : null} />
      )}
      {manages && <Declare done={again} />}
      {renaming && (
        <Rename
          metric={renaming}
          close={() => setRenaming(null)}
          done={() => {
            setRenaming(null);
            again();
          }}
        />
      )}
    </>
  );
}

function MetricTable(props: {
  metrics: readonly Metric[];
  rename: ((one: Metric) => void) | null;
}) {
  const { metrics, rename } = props;
  return (
    <Scroll label="Metrics">
      <table>
        <TableHead columns={['Key', 'Name', 'Unit', 'Labels']} acts={Boolean(rename)} />
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.key}>
              <td>
                <code>{metric.key}</code>
              </td>
              <td>{metric.name}</td>
              <td>{metric.unit}</td>
              <td>{metric.labels.join(', ') || <span class="quiet">none</span>}</td>
              {rename && (
                <td class="short">
                  <button
                    type="button"
                    class="link"
                    aria-label={`Rename ${metric.key}`}
                    onClick={() => rename(metric)}
                  >
                    Rename
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const nothing = { key: '', name: '', unit: '', labels: '' };

function Declare({ done }: { done(): void }) {
  const [form, setForm] = useState(nothing);
  const [declared, setDeclared] = useState<string | null>(null);
  const act = useAct(async () => {
    const { key, name, unit, labels } = form;
    const names = labels.split(',').map((label) => label.trim());
    const body = { key, name, unit, labels: names.filter((label) => label !== '') };
    await post<typeof declareMetric>('/app/api/metrics', body);
    setDeclared(key);
    setForm(nothing);
    done();
  });
  const set = (name: keyof typeof form) => (text: string) => setForm({ ...form, [name]: text });
  return (
    <form onSubmit={act.submit}>
      <h2>Declare a metric</h2>
      <div class="row">
        <Text name="Key" value={form.key} set={set('key')} pattern="[a-z][a-z0-9_]{0,62}">
          lower case letters, digits and _; never changes
        </Text>
        <Text name="Name" value={form.name} set={set('name')}>
          what people call it
        </Text>
        <Text name="Unit" value={form.unit} set={set('unit')}>
          such as EUR or people
        </Text>
        <Text name="Labels" value={form.labels} set={set('labels')} optional>
          by comma, such as plan, country; never change
        </Text>
      </div>
      <Failure error={act.error} />
      {declared && !act.error && (
        <Notice kind="good">
          The metric <code>{declared}</code> is declared.
        </Notice>
      )}
      <button type="submit" class="primary" aria-disabled={act.busy}>
        Declare
      </button>
    </form>
  );
}

function Rename({ metric, close, done }: { metric: Metric; close(): void; done(): void }) {
  const [name, setName] = useState(metric.name);
  const [unit, setUnit] = useState(metric.unit);
  const act = useAct(async () => {
    await post<typeof renameMetric>(`/app/api/metrics/${metric.key}`, { name, unit });
    done();
  });
  return (
    <Dialog title={`Rename ${metric.key}`} close={close}>
      <form onSubmit={act.submit}>
        <div class="row">
          <Text name="Name" value={name} set={setName} />
          <Text name="Unit" value={unit} set={setUnit} />
        </div>
        <p class="quiet">Its numbers stay as they are: another unit converts nothing.</p>
        <Failure error={act.error} />
        <div class="row">
          <button type="submit" class="primary" aria-disabled={act.busy}>
            Rename
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextProps {
  readonly name: string;
  readonly value: string;
  readonly pattern?: string;
  readonly optional?: boolean;
  set(text: string): void;
  readonly children?: ComponentChildren;
}

function Text({ name, value, pattern, optional = false, set, children }: TextProps) {
  return (
    <label>
      {name}
      <input
        {...{ value, pattern, required: !optional }}
        autocomplete="off"
        onInput={(event) => set(event.currentTarget.value)}
      />
      {children && <span class="quiet">{children}</span>}
    </label>
  );
}
