import { ErrorBoundary, LocationProvider, lazy, Route, Router } from 'preact-iso';
import { Frame } from './frame.tsx';
import { NotFound } from './pages/not-found.tsx';
import { SessionProvider } from './session.tsx';

const Overview = lazy(() => import('./pages/overview.tsx'));
const Sources = lazy(() => import('./pages/sources.tsx'));
const NewSource = lazy(() => import('./pages/new-source.tsx'));
const Metrics = lazy(() => import('./pages/metrics.tsx'));
const Source = lazy(() => import('./pages/source.tsx'));
const Reference = lazy(() => import('./pages/reference.tsx'));
const Guide = lazy(() => import('./pages/guide.tsx'));
const SignIn = lazy(() => import('./pages/sign-in.tsx'));
const Invitation = lazy(() => import('./pages/invitation.tsx'));

/** Who went on by a link that is gone with its page goes on from the beginning of the new one. */
function keepFocus() {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}

/** The pages by their addresses. What a page needs is loaded when it is first opened. */
export function App() {
  return (
    <LocationProvider>
      <SessionProvider>
        <Frame>
          <ErrorBoundary>
            <Router onRouteChange={keepFocus}>
              <Route path="/" component={Overview} />
              <Route path="/sources" component={Sources} />
              <Route path="/sources/new" component={NewSource} />
              <Route path="/sources/:sourceId/:tab?/:rest*" component={Source} />
              <Route path="/metrics" component={Metrics} />
              <Route path="/reference" component={Reference} />
              <Route path="/guides/:name?" component={Guide} />
              <Route path="/sign-in" component={SignIn} />
              <Route path="/invitation" component={Invitation} />
              <Route default component={NotFound} />
            </Router>
          </ErrorBoundary>
        </Frame>
      </SessionProvider>
    </LocationProvider>
  );
}
