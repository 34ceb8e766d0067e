import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type {
  acceptInvitation,
  invitationOptions,
  readInvitation,
} from '../../domain/api/app/session.ts';
import { post } from '../api.ts';
import { Notice } from '../parts/notice.tsx';
import { usePasskey } from '../parts/use-passkey.ts';
import { makePasskey, passkeyProblem, whyNoPasskeys } from '../passkeys.ts';
import { useSession } from '../session.tsx';
import { useRead } from '../use-read.ts';

const what = {
  'sources.read': 'see its sources, deliveries and samples',
  'sources.manage': 'change its sources, keys and secrets',
} as const;

/** Behind the link of `weir user invite`: who is invited makes a passkey, and is signed in. */
export default function Invitation() {
  const token = useLinkToken();
  const { session, set } = useSession();
  const { route } = useLocation();
  const { data, error } = useRead(`invitation ${token}`, () =>
    post<typeof readInvitation>('/app/api/invitation', { token }),
  );
  const { busy, problem, start } = usePasskey(async () => {
    const options = await post<typeof invitationOptions>('/app/api/invitation/options', { token });
    const passkey = await makePasskey(options);
    set(await post<typeof acceptInvitation>('/app/api/invitation/accept', { token, passkey }));
    // In place of the link, so that going back does not lead to it.
    route('/', true);
  });
  const impossible = whyNoPasskeys();
  const may = data?.permissions.includes('sources.manage') ? 'sources.manage' : 'sources.read';
  return (
    <>
      <h1>Invitation</h1>
      {error && <Notice kind="error">{passkeyProblem(error)}</Notice>}
      {data && (
        <>
          <p>
            <strong>{data.email}</strong> may join <strong>{data.company}</strong>, and {what[may]}.
          </p>
          {session && !session.demo && (
            <p>You are signed in as {session.user.email}; that ends with this passkey.</p>
          )}
          <p>
            A passkey takes the place of a password: this device, your phone or a security key keeps
            it, and checks that it is you.
          </p>
          {impossible ? (
            <Notice kind="error">{impossible}</Notice>
          ) : (
            <p>
              <button type="button" class="primary" aria-disabled={busy} onClick={start}>
                Make a passkey
              </button>
            </p>
          )}
          {problem && <Notice kind="error">{problem}</Notice>}
        </>
      )}
      {(data || error) && (
        <p>
          You have a passkey for this already? <a href="/sign-in">Sign in</a>
        </p>
      )}
    </>
  );
}

/** What stands behind the #; a second link that is opened in the same tab changes only that. */
function useLinkToken(): string {
  const read = () => window.location.hash.slice(1);
  const [token, setToken] = useState(read);
  useEffect(() => {
    const changed = () => setToken(read());
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  return token;
}
