import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiClient } from './api-client.js';
import { useConsole, useGeneration, useSessionOpen } from './console-context.js';
import { Failure } from './failure.js';

/** What was asked of the server, as it stands. */
export type Query<T> = {
  /** The latest answer; it stays while it is asked anew, and when that fails for another reason than that it may not be seen. */
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
};

type State<T> = {
  readonly key: string;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
};

/** Milliseconds until a server that cannot be reached is asked again. */
const RETRY_MS = 3000;

/**
 * Asks the server, and again when the key changes, when somebody has logged in again, and when the server is back.
 * @param question says what is asked: the same words, the same question; undefined asks nothing
 * @param ask gets the client and a signal that ends it
 * @param everyMs asks again after each answer, while the page is seen; 0 does not
 */
export function useQuery<T>(
  question: string | undefined,
  ask: (api: ApiClient, signal: AbortSignal) => Promise<T>,
  everyMs = 0,
): Query<T> {
  const { api, session } = useConsole();
  const isOpen = useSessionOpen(session);
  const generation = useGeneration(session);
  // What one user was answered is no answer to the next.
  const key = question === undefined ? undefined : `${String(generation)} ${question}`;
  const [state, setState] = useState<State<T>>({ key: '', data: undefined, error: undefined, isLoading: true });
  const [turn, setTurn] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    if (key === undefined || !isOpen) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState((was) =>
      was.key === key ? { ...was, isLoading: true } : { key, data: undefined, error: undefined, isLoading: true },
    );
    const askAgain = (ms: number) => {
      timer = setTimeout(() => (document.hidden ? askAgain(ms) : setTurn((before) => before + 1)), ms);
    };
    asking.current(api, abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return;
        setState({ key, data, error: undefined, isLoading: false });
        if (everyMs > 0) askAgain(everyMs);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const failure = error instanceof Failure ? error : undefined;
        const isDenied = failure?.isDenied === true;
        setState((was) => ({ ...was, data: isDenied ? undefined : was.data, error, isLoading: false }));
        if (failure?.isUnreachable === true) askAgain(RETRY_MS);
        else if (everyMs > 0) askAgain(everyMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, isOpen, turn, everyMs, api]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const isOld = state.key !== key;
  return {
    data: isOld ? undefined : state.data,
    error: isOld ? undefined : state.error,
    isLoading: isOld || state.isLoading,
    reload,
  };
}
