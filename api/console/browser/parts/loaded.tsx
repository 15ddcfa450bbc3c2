import type { ComponentChildren } from 'preact';
import { Failure } from '../client/failure.js';
import { describe } from '../client/notices.js';
import type { Query } from '../client/use-query.js';
import { TEXTS } from '../texts.js';

type LoadedProps<T> = { readonly query: Query<T>; readonly children: (data: T) => ComponentChildren };

/** What was asked of the server: while it is waited for, when it failed, and as it came. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const { data, error } = query;
  return (
    <>
      {error !== undefined && <Failed error={error} isStale={data !== undefined} retry={query.reload} />}
      {data !== undefined && children(data)}
      {data === undefined && error === undefined && (
        <p class="loading" role="status">
          {TEXTS.common.loading}
        </p>
      )}
    </>
  );
}

type FailedProps = { readonly error: unknown; readonly isStale?: boolean; readonly retry?: () => void };

/** Why there is nothing to see. */
export function Failed({ error, isStale = false, retry }: FailedProps) {
  const failure = error instanceof Failure ? error : undefined;
  // The login stands in front of the page then.
  if (failure?.status === 401) return null;
  const isUnreachable = failure?.isUnreachable === true;
  return (
    <div class="failed" role="alert">
      <p>
        {failure?.isDenied === true ? `${TEXTS.common.denied} ` : ''}
        {isUnreachable ? TEXTS.common.unreachable : describe(error)} {isStale ? TEXTS.common.stale : ''}
      </p>
      {retry !== undefined && !isUnreachable && (
        <button type="button" onClick={retry}>
          {TEXTS.common.retry}
        </button>
      )}
    </div>
  );
}
