import { type Place, readPlace } from './location.js';

/** Holds somebody at a place. */
export type Guard = {
  /** The fragment where they are. */
  here: string;
  readonly mayGo: (place: Place) => boolean;
  /** Told that somebody wanted to go: a step back in the history is the way there. */
  readonly onHeld: () => void;
};

const guards = new Set<Guard>();

/** @returns ends it */
export function addGuard(guard: Guard): () => void {
  guards.add(guard);
  return () => void guards.delete(guard);
}

/** After the place has changed and before anybody looks at it: puts it back where a guard holds somebody. */
export function holdBack(): void {
  const place = readPlace(location.hash);
  for (const guard of guards) {
    if (guard.mayGo(place)) {
      guard.here = location.hash;
    } else {
      history.pushState(null, '', guard.here);
      guard.onHeld();
      return;
    }
  }
}
