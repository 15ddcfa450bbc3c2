import { useCallback, useEffect, useState } from 'preact/hooks';
import { holdBack, isHeld, release } from './leave-guards.js';
import { hrefOf, type Place, readPlace } from './location.js';

/** Where somebody is; shows anew when that changes. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => {
      holdBack();
      setHash(location.hash);
    };
    addEventListener('hashchange', changed);
    changed();
    return () => removeEventListener('hashchange', changed);
  }, []);
  return readPlace(hash);
}

type Way = {
  /** Leaves no step behind: for what somebody types. */
  readonly replace?: boolean;
  /** Asks nobody: what was typed belongs to something that is gone. */
  readonly anyway?: boolean;
};

/** Goes to a place, when no guard holds somebody where they are. */
export function go(href: string, { replace = false, anyway = false }: Way = {}): void {
  if (anyway) release();
  if (isHeld(href, () => go(href, { replace }))) return;
  if (!replace) {
    location.hash = href;
    return;
  }
  history.replaceState(history.state, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Changes parameters of the place where somebody is; undefined takes one out. */
export function useParams(): readonly [
  URLSearchParams,
  (changes: Readonly<Record<string, string | undefined>>, replace?: boolean) => void,
] {
  const { params } = usePlace();
  const change = useCallback((changes: Readonly<Record<string, string | undefined>>, replace = false) => {
    const place = readPlace(location.hash);
    go(hrefOf(place.path, { ...Object.fromEntries(place.params), ...changes }), { replace });
  }, []);
  return [params, change];
}
