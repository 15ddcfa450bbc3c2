import { useEffect, useState } from 'preact/hooks';
import { useConsole, useGeneration, useSessionOpen } from '../client/console-context.js';
import { hrefOf } from '../router/location.js';
import { usePlace } from '../router/use-place.js';
import { TEXTS } from '../texts.js';
import { LoginPage, SessionEnded } from './login.js';
import { Navigation } from './navigation.js';
import { NoticeList } from './notice-list.js';
import { PageBoundary } from './page-boundary.js';
import { PAGES } from './pages.js';
import { SessionClock } from './session-clock.js';

/** The console around its pages: who is logged in, where one can go, and the page that is seen. */
export function Shell() {
  const { session, notices } = useConsole();
  const isOpen = useSessionOpen(session);
  const generation = useGeneration(session);
  const [wasOpen, setWasOpen] = useState(false);
  const place = usePlace();
  const [first = 'overview', ...rest] = place.path;
  useEffect(() => {
    if (isOpen) setWasOpen(true);
  }, [isOpen]);
  useEffect(() => notices.clear(), [notices, generation]);
  // Before the first login there is nothing to show; after it the page stays while somebody logs in again.
  if (!isOpen && !wasOpen) return <LoginPage />;
  const page = PAGES.find(({ name }) => name === first);
  const logOut = () => {
    session.end();
    notices.clear();
    setWasOpen(false);
  };
  return (
    <div class="shell">
      <Navigation key={generation} current={first} onLogOut={logOut} />
      <main id="content" tabIndex={-1}>
        <SessionClock />
        {/* Who logs in where another user was begins with a page of their own. */}
        <PageBoundary key={generation} place={hrefOf(place.path, Object.fromEntries(place.params))}>
          {page === undefined ? <p class="empty">{TEXTS.common.notFound}</p> : <page.Show key={first} path={rest} />}
        </PageBoundary>
      </main>
      <NoticeList />
      {!isOpen && <SessionEnded onLogOut={logOut} />}
    </div>
  );
}
