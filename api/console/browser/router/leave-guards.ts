import { type Place, readPlace } from './location.js';

/** A way that somebody was held back from. */
export type Held = {
  /** Goes it after all; the guard has to let it pass. */
  readonly go: () => void;
  /** Leaves no trace of it: a step back in the history is the one that it was before. */
  readonly stay: () => void;
};

/** Holds somebody at a place. */
export type Guard = {
  /** The fragment where they are. */
  here: string;
  readonly mayGo: (place: Place) => boolean;
  /** Told that somebody wanted to go. */
  readonly onHeld: (held: Held) => void;
  /** Lets pass whoever goes away next, without a question. */
  readonly release: () => void;
};

const guards = new Set<Guard>();

/** Entries of the history that the console has seen: one without it was made by a link just now. */
const SEEN = { isSeen: true };

/** @returns ends it */
export function addGuard(guard: Guard): () => void {
  guards.add(guard);
  return () => void guards.delete(guard);
}

/** What guards keep is done with: whoever goes away next is not asked. */
export function release(): void {
  for (const guard of guards) guard.release();
}

/** Before the console itself goes to a place. @param onGo goes there after all @returns whether a guard holds somebody */
export function isHeld(href: string, onGo: () => void): boolean {
  const guard = holding(href);
  guard?.onHeld({ go: onGo, stay: () => {} });
  return guard !== undefined;
}

/** After a link or a step in the history, and before anybody looks at the place: puts it back where a guard holds somebody. */
export function holdBack(): void {
  const isNew = history.state === null;
  const guard = holding(location.hash);
  if (guard === undefined) {
    if (isNew) history.replaceState(SEEN, '');
    for (const each of guards) each.here = location.hash;
    return;
  }
  // A step back takes the place from before into view, and the entry pushed here stands where the page's own was. Behind a link are the
  // page, where the link leads to, and the page again.
  history.pushState(SEEN, '', guard.here);
  guard.onHeld({ go: () => history.back(), stay: () => (isNew ? history.go(-2) : undefined) });
}

function holding(href: string): Guard | undefined {
  const place = readPlace(href);
  return [...guards].find(({ mayGo }) => !mayGo(place));
}
