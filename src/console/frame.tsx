import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { connectFrame, post } from './api.ts';
import { ConfirmPasskey } from './parts/confirm-passkey.tsx';
import { Failure } from './parts/notice.tsx';
import { usePageTitle } from './parts/page-title.ts';
import { ThemeSwitch } from './parts/theme-switch.tsx';
import { useSession } from './session.tsx';

/** Pages that nobody needs to be signed in for. */
const open = ['/sign-in', '/invitation', '/reference', '/guides'];
const isOpen = (path: string) => open.some((one) => path === one || path.startsWith(`${one}/`));

const links = [
  ['/', 'Overview'],
  ['/sources', 'Sources'],
  ['/metrics', 'Metrics'],
  ['/reference', 'API reference'],
  ['/guides', 'Guides'],
] as const;

/** What stands around every page: who is signed in, where one can go, and the passkey check. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { session, error, refresh, set } = useSession();
  const { path, route } = useLocation();
  usePageTitle();
  const [asking, setAsking] = useState<((confirmed: boolean) => void) | null>(null);
  const check = useRef<Promise<boolean> | null>(null);
  useEffect(() => {
    connectFrame({
      // Whatever else needs it meanwhile waits for the same check.
      confirmPasskey() {
        check.current ??= new Promise((resolve) => setAsking(() => resolve));
        return check.current;
      },
      onSignedOut: () => set(null),
    });
  }, [set]);
  const asked = useCallback(
    (confirmed: boolean) => {
      asking?.(confirmed);
      check.current = null;
      setAsking(null);
    },
    [asking],
  );
  const away = session === null && !isOpen(path);
  useEffect(() => {
    if (away) route(`/sign-in?to=${encodeURIComponent(path + window.location.search)}`, true);
  }, [away, path, route]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          weir
        </a>
        <nav aria-label="Main">
          {links
            .filter(([href]) => session || isOpen(href))
            .map(([href, name]) => (
              <a key={href} href={href} aria-current={isHere(path, href) ? 'page' : undefined}>
                {name}
              </a>
            ))}
        </nav>
        <div class="top-end">
          <ThemeSwitch />
          {session && <WhoIsSignedIn />}
          {session === null && path !== '/sign-in' && <a href="/sign-in">Sign in</a>}
        </div>
      </header>
      {session?.demo && (
        <p class="banner">This is a demo deployment: look at everything, nothing can be changed.</p>
      )}
      <main id="content" tabIndex={-1}>
        {(session || isOpen(path)) && children}
        {error && !isOpen(path) && <Unknown error={error} again={refresh} />}
      </main>
      {asking && <ConfirmPasskey done={asked} />}
    </>
  );
}

function isHere(path: string, href: string): boolean {
  return href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
}

/** Instead of a page, while nobody can say who is signed in. */
function Unknown({ error, again }: { error: Error; again(): void }) {
  return (
    <>
      <h1>weir</h1>
      <Failure error={error} />
      <button type="button" onClick={again}>
        Try again
      </button>
    </>
  );
}

function WhoIsSignedIn() {
  const { session } = useSession();
  if (!session) return null;
  const signOut = async () => {
    await post('/app/api/sign-out', undefined as never);
    // Loaded anew: nothing that was read stays, and no page is left that needs who was signed in.
    window.location.assign('/sign-in');
  };
  return (
    <span class="who">
      <span title={session.user.email}>
        {session.company.name}
        <span class="quiet"> · {session.user.email}</span>
      </span>
      {!session.demo && (
        <button type="button" class="link" onClick={signOut}>
          Sign out
        </button>
      )}
    </span>
  );
}
