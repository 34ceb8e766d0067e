import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { listSecrets, rotateSecret } from '../../domain/api/app/keys.ts';
import { get, post } from '../api.ts';
import { mayManage, useSignedIn } from '../session.tsx';
import type { SourceOfPage } from '../source-of-page.ts';
import { useAct } from '../use-act.ts';
import { useRead } from '../use-read.ts';
import { Copyable } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './notice.tsx';
import { Scroll } from './scroll.tsx';
import { ShownOnce } from './shown-once.tsx';
import { TableHead } from './table-head.tsx';
import { Time } from './time.tsx';

type Secret = AnswerOf<typeof listSecrets>['secrets'][number];

const everyMs = 10_000;

/** A webhook source's address and its secrets: the current one, and the old one while it works. */
export function SigningSecrets({ source }: { source: SourceOfPage }) {
  const session = useSignedIn();
  const [made, setMade] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const address = `/app/api/sources/${source.source_id}/secrets`;
  const { data, error, again } = useRead(
    `secrets ${source.source_id}`,
    (signal) => get<typeof listSecrets>(address, {}, signal),
    everyMs,
  );
  const ending = data?.secrets.find(({ state }) => state === 'ending') ?? null;
  return (
    <>
      <h2>Webhook address</h2>
      <Copyable
        text={`${session.api_url}/v1/webhooks/${source.source_id}`}
        label="webhook address"
      />
      <h2>Signing secrets</h2>
      {made !== null && (
        <ShownOnce what="signing secret" text={made} dismiss={() => setMade(null)} />
      )}
      <Failure error={error} />
      {data && <SecretTable secrets={data.secrets} />}
      {mayManage(session) && (
        <p>
          <button type="button" onClick={() => setAsking(true)}>
            Rotate secret
          </button>
        </p>
      )}
      {asking && (
        <RotateSecret
          {...{ address, ending }}
          close={() => setAsking(false)}
          done={(text) => {
            setAsking(false);
            setMade(text);
            again();
          }}
        />
      )}
    </>
  );
}

const states = { current: 'good', ending: 'warn', ended: '' } as const;

function SecretTable({ secrets }: { secrets: readonly Secret[] }) {
  return (
    <Scroll label="Signing secrets">
      <table>
        <TableHead columns={['State', 'Made', 'Ends', 'Last used']} />
        <tbody>
          {secrets.map((secret) => (
            <tr key={secret.secret_id}>
              <td>
                <span class={`badge ${states[secret.state]}`}>{secret.state}</span>
              </td>
              <td class="short">
                <Time at={secret.created_at} />
              </td>
              <td class="short">
                <Time at={secret.ends_at} none="when it is rotated" />
              </td>
              <td class="short">
                <Time at={secret.last_used_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface RotateProps {
  /** Of the secrets. */
  readonly address: string;
  /** The old one that still works; another rotation ends it. */
  readonly ending: Secret | null;
  close(): void;
  done(text: string): void;
}

function RotateSecret({ address, ending, close, done }: RotateProps) {
  const act = useAct(async () => {
    const made = await post<typeof rotateSecret>(`${address}/rotate`, undefined);
    done(made.signing_secret);
  });
  return (
    <Dialog title="Rotate the signing secret" close={close}>
      <p>The new secret is shown once and works at once. The one before works for 24 more hours.</p>
      {ending && (
        <p>
          An older secret still works: last used <Time at={ending.last_used_at} />, to end{' '}
          <Time at={ending.ends_at} />. With this rotation it ends at once.
        </p>
      )}
      <Failure error={act.error} />
      <div class="row">
        <button type="button" class="primary" onClick={act.run} aria-disabled={act.busy}>
          Make the new secret
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
