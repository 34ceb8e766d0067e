import './overview.css';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { readOverview } from '../../domain/api/app/overview.ts';
import { countedMax } from '../../domain/counted.ts';
import { get } from '../api.ts';
import { duration } from '../parts/duration.ts';
import { damageText, SandboxBadge } from '../parts/marks.tsx';
import { bytes, count, countUpTo } from '../parts/numbers.ts';
import { ReadFailure } from '../parts/stale.tsx';
import { Time } from '../parts/time.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import { useRead } from '../use-read.ts';

type Read = AnswerOf<typeof readOverview>;

const pollMs = 5_000;

/** How the company's deliveries go, and whether the service is well. */
export default function Overview() {
  const { query } = useLocation();
  const session = useSignedIn();
  const sandbox = query.sandbox === 'true';
  const { data, error } = useRead(
    `overview ${sandbox}`,
    (signal) => get<typeof readOverview>('/app/api/overview', asked(sandbox), signal),
    pollMs,
  );
  return (
    <>
      <h1>Overview</h1>
      <p>
        {session.company.name} {sandbox && <SandboxBadge />}{' '}
        <a href={sandbox ? '/' : '/?sandbox=true'}>
          {sandbox ? 'Leave sandbox out' : 'Count sandbox too'}
        </a>
      </p>
      <ReadFailure error={error} kept={data !== null} />
      {data && data.sources === 0 && <FirstSource manage={mayManage(session)} />}
      {data && <Figures read={data} />}
      {data && <Health read={data} />}
      {data && <Checks read={data} />}
    </>
  );
}

function asked(sandbox: boolean): { sandbox?: 'true' } {
  return sandbox ? { sandbox: 'true' } : {};
}

function FirstSource({ manage }: { manage: boolean }) {
  return (
    <p>
      There is no source yet.{' '}
      {manage ? (
        <>
          A source says where numbers come from and how they are read:{' '}
          <a href="/sources/new">make the first one</a>.
        </>
      ) : (
        'Who has the permission sources.manage can make the first one.'
      )}
    </p>
  );
}

function Figures({ read }: { read: Read }) {
  const { minutes, parse_lag: lag, backlog, rejected } = read;
  return (
    <ul class="tiles wide-tiles">
      <Tile name="Deliveries received" figure={`${rate(minutes[0]!.deliveries)} a second`}>
        <Bars values={minutes.map((one) => one.deliveries)} told={deliveries} />
      </Tile>
      <Tile name="Bytes received" figure={`${bytes(Math.round(minutes[0]!.bytes / 60))} a second`}>
        <Bars values={minutes.map((one) => one.bytes)} told={bytes} />
      </Tile>
      <Tile
        name="From receipt to readable"
        figure={lag ? `${duration(lag.median_ms)} median` : 'nothing came'}
      >
        <p class="quiet">
          {lag
            ? `${duration(lag.p95_ms)} for 95 of 100, of ${deliveries(lag.deliveries)} in ` +
              `${minutes.length} minutes`
            : `in the last ${minutes.length} minutes`}
        </p>
      </Tile>
      <Tile
        name="Waiting or being parsed"
        figure={countUpTo(backlog.deliveries, countedMax.backlog)}
      >
        <p class="quiet">
          {backlog.oldest_received_at ? (
            <>
              the oldest came <Time at={backlog.oldest_received_at} />
            </>
          ) : (
            'all that came is parsed'
          )}
        </p>
      </Tile>
      <Tile name="Records rejected in 24 hours" figure={count(rejected.records)}>
        <p class="quiet">
          {deliveries(rejected.deliveries)} rejected. <a href="/sources">By source</a>
        </p>
      </Tile>
    </ul>
  );
}

function deliveries(n: number): string {
  return `${count(n)} ${n === 1 ? 'delivery' : 'deliveries'}`;
}

function Tile(props: { name: string; figure: string; children: ComponentChildren }) {
  return (
    <li class="tile">
      <h2>{props.name}</h2>
      <span class="figure">{props.figure}</span>
      {props.children}
    </li>
  );
}

/** The minutes from left to right, the one that is under way last. */
function Bars({ values, told }: { values: readonly number[]; told(value: number): string }) {
  const most = Math.max(1, ...values);
  const sum = values.reduce((all, one) => all + one, 0);
  const text = `${told(sum)} in ${values.length} minutes, ${told(most)} in the busiest`;
  return (
    <>
      <div class="bars" role="img" aria-label={sum === 0 ? 'nothing came' : text}>
        {values.toReversed().map((value, i) => (
          <span key={i} style={{ height: `${(100 * value) / most}%` }} />
        ))}
      </div>
      <p class="quiet">
        {told(sum)} in {values.length} minutes
      </p>
    </>
  );
}

function rate(inMinute: number): string {
  const second = inMinute / 60;
  if (second === 0) return '0';
  return second < 10 ? second.toFixed(second < 1 ? 2 : 1) : count(Math.round(second));
}

const partNames: Readonly<Record<string, string>> = {
  catalog: 'Catalog',
  artifacts: 'Artifact store',
  samples: 'Samples (ClickHouse)',
  accepting: 'Accepting deliveries',
  service: 'Service',
};

const statusText = {
  ready: 'Everything answers.',
  degraded: 'Something does not answer. What was accepted is safe, and is parsed later.',
  away: 'Something that is needed does not answer: nothing is accepted or read now.',
} as const;

function Health({ read: { health } }: { read: Read }) {
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <p>{statusText[health.status]}</p>
      <ul class="health">
        {Object.entries(health.parts).map(([name, state]) => (
          <li key={name}>
            {partNames[name] ?? name}{' '}
            <span class={`badge ${state === 'ok' ? 'good' : 'bad'}`}>{state}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Checks({ read: { scrub, verify, rebuild } }: { read: Read }) {
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Checks of what is stored</h2>
      <dl class="facts">
        <dt>Stored bytes</dt>
        <dd>
          <Scrub scrub={scrub} />
        </dd>
        <dt>
          <code>weir verify</code>
        </dt>
        <dd>
          <Check check={verify} wellText="no differences" />
        </dd>
        <dt>
          <code>weir rebuild</code>
        </dt>
        <dd>
          <Check
            check={rebuild}
            wellText={rebuild?.swapped ? 'all samples made anew' : 'nothing was changed'}
          />
        </dd>
      </dl>
    </section>
  );
}

function Scrub({ scrub }: { scrub: Read['scrub'] }) {
  return (
    <>
      {scrub.damaged === 0 ? (
        <span class="badge good">none damaged</span>
      ) : (
        <span class="badge bad">{count(scrub.damaged)} damaged</span>
      )}{' '}
      {scrub.round_began_at === null ? (
        'No round of comparing them with their receipts has begun.'
      ) : (
        <>
          The last round of comparing them with their receipts began{' '}
          <Time at={scrub.round_began_at} />
          {scrub.round_over ? ' and is over.' : ' and goes on.'}
        </>
      )}
      {scrub.newest.length > 0 && (
        <ul>
          {scrub.newest.map(({ artifact_id: id, source_id: source, damage }) => (
            <li key={id}>
              <a href={`/sources/${source}/deliveries/${id}`}>{id}</a>: {damageText[damage]}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Check({ check, wellText }: { check: Read['verify']; wellText: string }) {
  if (!check) return <span class="quiet">never ran</span>;
  return (
    <>
      {check.differences === 0 ? (
        <span class="badge good">{wellText}</span>
      ) : (
        <span class="badge bad">
          {count(check.differences)} {check.differences === 1 ? 'difference' : 'differences'}
        </span>
      )}{' '}
      <Time at={check.at} />, in {duration(check.seconds * 1_000)}
    </>
  );
}
