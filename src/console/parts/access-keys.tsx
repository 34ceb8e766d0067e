import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { createKey, listKeys } from '../../domain/api/app/keys.ts';
import { get, post } from '../api.ts';
import { mayManage, useSignedIn } from '../session.tsx';
import type { SourceOfPage } from '../source-of-page.ts';
import { useAct } from '../use-act.ts';
import { useRead } from '../use-read.ts';
import { RevokeKey, RotateKey } from './key-dialogs.tsx';
import { Failure } from './notice.tsx';
import { Scroll } from './scroll.tsx';
import { ShownOnce } from './shown-once.tsx';
import { TableHead } from './table-head.tsx';
import { Time } from './time.tsx';

export type Key = AnswerOf<typeof listKeys>['keys'][number];

const everyMs = 10_000;
/** What a new key lives for unless somebody wants it otherwise (specification, "Access keys"). */
const yearDays = 365;

/** The keys of a source: made, rotated and revoked here, each shown once. */
export function AccessKeys({ source }: { source: SourceOfPage }) {
  const manages = mayManage(useSignedIn());
  const [made, setMade] = useState<string | null>(null);
  const [asked, setAsked] = useState<{ act: 'rotate' | 'revoke'; key: Key } | null>(null);
  const address = `/app/api/sources/${source.source_id}/keys`;
  const { data, error, again } = useRead(
    `keys ${source.source_id}`,
    (signal) => get<typeof listKeys>(address, {}, signal),
    everyMs,
  );
  const done = (text: string | null) => {
    setAsked(null);
    if (text !== null) setMade(text);
    again();
  };
  const dialog = { close: () => setAsked(null), done };
  return (
    <>
      <h2>Access keys</h2>
      {source.delivery === 'webhook' && (
        <p class="quiet">The keys of a webhook source only read: its deliveries come signed.</p>
      )}
      {made !== null && <ShownOnce what="access key" text={made} dismiss={() => setMade(null)} />}
      <Failure error={error} />
      {data?.keys.length === 0 && (
        <p>No key yet. {manages ? 'Make one below.' : 'Who manages sources makes them.'}</p>
      )}
      {data && data.keys.length > 0 && (
        <KeyTable keys={data.keys} ask={manages ? (act, key) => setAsked({ act, key }) : null} />
      )}
      {manages && <NewKey source={source} done={done} />}
      {asked?.act === 'rotate' && <RotateKey target={asked.key} {...dialog} />}
      {asked?.act === 'revoke' && <RevokeKey target={asked.key} {...dialog} />}
    </>
  );
}

type Ask = (act: 'rotate' | 'revoke', key: Key) => void;

function KeyTable({ keys, ask }: { keys: readonly Key[]; ask: Ask | null }) {
  return (
    <Scroll label="Access keys">
      <table>
        <TableHead
          columns={['Key', 'Scope', 'State', 'Made', 'Ends', 'Last used']}
          acts={Boolean(ask)}
        />
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.key_id} shown={key} ask={ask} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const states = { active: 'good', ending: 'warn', expired: '', revoked: 'bad' } as const;

function KeyRow({ shown, ask }: { shown: Key; ask: Ask | null }) {
  const name = shortId(shown);
  const live = shown.state === 'active' || shown.state === 'ending';
  return (
    <tr>
      <td class="short">
        <code title={shown.key_id}>{name}</code>{' '}
        {shown.sandbox && <span class="badge sandbox">sandbox</span>}
      </td>
      <td class="short">{shown.scope.replace('_', ' and ')}</td>
      <td>
        <span class={`badge ${states[shown.state]}`}>{shown.state}</span>
      </td>
      <td class="short">
        <Time at={shown.created_at} />
      </td>
      <td class="short">
        <Time at={shown.revoked_at ?? shown.expires_at} />
      </td>
      <td class="short">
        <Time at={shown.last_used_at} />
      </td>
      {ask && (
        <td class="short">
          {shown.state === 'active' && (
            <button
              type="button"
              aria-label={`Rotate key ${name}`}
              onClick={() => ask('rotate', shown)}
            >
              Rotate
            </button>
          )}{' '}
          {live && (
            <button
              type="button"
              class="danger"
              aria-label={`Revoke key ${name}`}
              onClick={() => ask('revoke', shown)}
            >
              Revoke
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

/** The end of the id tells keys apart: the beginning is the time they were made at. */
export function shortId({ key_id: id }: Pick<Key, 'key_id'>): string {
  return `…${id.slice(-8)}`;
}

const scopes = [
  ['read_write', 'read and write'],
  ['write', 'write: push deliveries'],
  ['read', 'read samples'],
] as const;

function NewKey({ source, done }: { source: SourceOfPage; done(text: string): void }) {
  const webhook = source.delivery === 'webhook';
  const [scope, setScope] = useState<Key['scope']>(webhook ? 'read' : 'read_write');
  const [sandbox, setSandbox] = useState(false);
  const [days, setDays] = useState(yearDays);
  const act = useAct(async () => {
    const address = `/app/api/sources/${source.source_id}/keys`;
    const body = { scope, sandbox, expires_days: days };
    done((await post<typeof createKey>(address, body)).access_key);
  });
  return (
    <form onSubmit={act.submit}>
      <fieldset>
        <legend>New key</legend>
        <div class="row">
          <label>
            Scope
            <select
              value={scope}
              onChange={(event) => setScope(event.currentTarget.value as Key['scope'])}
            >
              {scopes
                .filter(([one]) => !webhook || one === 'read')
                .map(([one, text]) => (
                  <option key={one} value={one}>
                    {text}
                  </option>
                ))}
            </select>
          </label>
          <label>
            Days until it expires
            <input
              type="number"
              min={1}
              max={36_500}
              required
              value={days}
              onInput={(event) => setDays(event.currentTarget.valueAsNumber)}
            />
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={sandbox}
              onChange={(event) => setSandbox(event.currentTarget.checked)}
            />
            Sandbox: what it stores is marked test, and the API reference takes it
          </label>
          <button type="submit" class="primary" aria-disabled={act.busy}>
            Make key
          </button>
        </div>
        <Failure error={act.error} />
      </fieldset>
    </form>
  );
}
