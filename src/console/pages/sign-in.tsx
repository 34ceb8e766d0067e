import { useLocation } from 'preact-iso';
import type { signIn, signInOptions } from '../../domain/api/app/session.ts';
import { post } from '../api.ts';
import { ownPath } from '../own-path.ts';
import { Notice } from '../parts/notice.tsx';
import { usePasskey } from '../parts/use-passkey.ts';
import { checkPasskey, whyNoPasskeys } from '../passkeys.ts';
import { useSession } from '../session.tsx';

/** One button; then to the page that was asked for (`?to=`). */
export default function SignIn() {
  const { session, set } = useSession();
  const { query, route } = useLocation();
  const to = ownPath(query.to);
  const { busy, problem, start } = usePasskey(async () => {
    const options = await post<typeof signInOptions>('/app/api/sign-in/options', undefined);
    const passkey = await checkPasskey(options);
    set(await post<typeof signIn>('/app/api/sign-in', { passkey }));
    route(to, true);
  });
  const impossible = whyNoPasskeys();
  return (
    <>
      <h1>Sign in</h1>
      {session && (
        <p>
          You are signed in as {session.user.email}. <a href={to}>Go on</a>
        </p>
      )}
      {impossible ? (
        <Notice kind="error">{impossible}</Notice>
      ) : (
        !session?.demo && (
          <p>
            <button type="button" class="primary" aria-disabled={busy} onClick={start}>
              Sign in with a passkey
            </button>
          </p>
        )
      )}
      {problem && <Notice kind="error">{problem}</Notice>}
      <h2>No passkey yet, or lost it?</h2>
      <p>
        Whoever runs weir makes a link for you, on the machine it runs on. It works once, for 24
        hours:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <pre tabIndex={0}>
        <code>npx weir user invite --company COMPANY --email YOU</code>
      </pre>
    </>
  );
}
