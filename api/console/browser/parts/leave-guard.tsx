import { useEffect, useRef, useState } from 'preact/hooks';
import { addGuard, type Held } from '../router/leave-guards.js';
import type { Place } from '../router/location.js';
import { TEXTS } from '../texts.js';
import { Confirm } from './dialog.js';

type LeaveGuardProps = {
  /** Whether something was typed that is not stored. */
  readonly isChanged: boolean;
  /** Whether what was typed is still there at another place. */
  readonly keepsAt: (place: Place) => boolean;
};

/** Asks before a page with something unsaved is left for another one, closed or loaded again. */
export function LeaveGuard({ isChanged, keepsAt }: LeaveGuardProps) {
  const [held, setHeld] = useState<Held>();
  const facts = useRef({ isChanged, keepsAt, isLeaving: false });
  facts.current.isChanged = isChanged;
  facts.current.keepsAt = keepsAt;
  useEffect(() => {
    const end = addGuard({
      here: location.hash,
      mayGo: (place) => {
        const { isChanged: asks, keepsAt: keeps, isLeaving } = facts.current;
        if (!keeps(place)) return !asks || isLeaving;
        facts.current.isLeaving = false;
        return true;
      },
      onHeld: setHeld,
      release: () => (facts.current.isLeaving = true),
    });
    const unloads = (event: BeforeUnloadEvent) => {
      if (facts.current.isChanged) event.preventDefault();
    };
    addEventListener('beforeunload', unloads);
    return () => {
      end();
      removeEventListener('beforeunload', unloads);
    };
  }, []);
  if (held === undefined) return null;
  return (
    <Confirm
      title={TEXTS.common.leaveTitle}
      action={TEXTS.common.leave}
      isDangerous
      onClose={() => {
        if (!facts.current.isLeaving) held.stay();
        setHeld(undefined);
      }}
      onConfirm={() => {
        facts.current.isLeaving = true;
        held.go();
        return Promise.resolve();
      }}
    >
      <p>{TEXTS.common.leaveText}</p>
    </Confirm>
  );
}
