import { useEffect, useState } from 'preact/hooks';
import { useConsole, useSessionOpen } from '../client/console-context.js';
import { usePlace } from '../router/use-place.js';
import { TEXTS } from '../texts.js';
import { LoginPage, SessionEnded } from './login.js';
import { Navigation } from './navigation.js';
import { NoticeList } from './notice-list.js';
import { PAGES } from './pages.js';
import { SessionClock } from './session-clock.js';

/** The console around its pages: who is logged in, where one can go, and the page that is seen. */
export function Shell() {
  const { session } = useConsole();
  const isOpen = useSessionOpen(session);
  const [wasOpen, setWasOpen] = useState(false);
  const place = usePlace();
  const [first = 'overview', ...rest] = place.path;
  useEffect(() => {
    if (isOpen) setWasOpen(true);
  }, [isOpen]);
  // Before the first login there is nothing to show; after it the page stays while somebody logs in again.
  if (!isOpen && !wasOpen) return <LoginPage />;
  const page = PAGES.find(({ name }) => name === first);
  return (
    <div class="shell">
      <Navigation
        current={first}
        onLogOut={() => {
          session.end();
          setWasOpen(false);
        }}
      />
      <main id="content" tabIndex={-1}>
        <SessionClock />
        {page === undefined ? <p class="empty">{TEXTS.common.notFound}</p> : <page.Show key={first} path={rest} />}
      </main>
      <NoticeList />
      {!isOpen && <SessionEnded />}
    </div>
  );
}
