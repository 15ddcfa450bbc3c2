import { useEffect, useState } from 'preact/hooks';
import { useConsole, useSessionOpen } from '../client/console-context.js';
import { Dialog } from '../parts/dialog.js';
import { TEXTS } from '../texts.js';
import { LoginForm } from './login.js';

/** Says that the session ends soon, and ends it in time: nobody learns it from a change that was refused. */
export function SessionClock() {
  const { session } = useConsole();
  const isOpen = useSessionOpen(session);
  const [endsSoon, setEndsSoon] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { endsAt } = session;
  useEffect(() => {
    setEndsSoon(false);
    setAsking(false);
    if (!isOpen) return undefined;
    const soon = setTimeout(() => setEndsSoon(true), Math.max(0, session.tellIn));
    const end = setTimeout(() => session.end(), Math.max(0, endsAt - Date.now()));
    return () => {
      clearTimeout(soon);
      clearTimeout(end);
    };
  }, [isOpen, endsAt, session]);
  if (!endsSoon || !isOpen) return null;
  return (
    <div class="notice" role="status">
      <p>{TEXTS.login.endsSoon}</p>
      <button type="button" onClick={() => setAsking(true)}>
        {TEXTS.login.renew}
      </button>
      {isAsking && (
        <Dialog title={TEXTS.login.title} onClose={() => setAsking(false)}>
          <LoginForm user={session.user} onDone={() => setAsking(false)} />
        </Dialog>
      )}
    </div>
  );
}
