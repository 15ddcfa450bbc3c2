import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import type { AlertPlace } from './alert-place.js';
import type { AlertScope } from './alert-question.js';
import type { StoreLimits } from './alert-store.js';
import type { Counting, CountPiece } from './count-alerts.js';
import type { SearchOrder, SearchPiece } from './search-alerts.js';

/** A question of which a thread does a piece. */
export type ThreadQuestion = {
  readonly scope: AlertScope;
  /** The time that spans in `q` are counted from, epoch milliseconds. */
  readonly now: number;
};

export type SearchOrderCall = ThreadQuestion & {
  readonly order: SearchOrder;
  readonly cursor: AlertPlace | undefined;
  readonly limit: number;
  readonly bytes: number;
};

export type StoreStats = {
  readonly alerts: number;
  readonly oldest: number | null;
  readonly newest: number | null;
  readonly segments: number;
  readonly bytes: number;
  readonly behind: number;
  readonly rejected: number;
  readonly rebuilding: number;
};

/** What svc-db and the thread of the alert store say to each other. */
export type AlertThread = {
  readonly data: {
    /** Of the segments. */
    readonly directory: string;
    /** `logs/alerts`. */
    readonly alerts: string;
    readonly limits: StoreLimits;
  };
  readonly calls: {
    readonly search: (call: SearchOrderCall) => SearchPiece;
    readonly count: (call: ThreadQuestion & { counting: Counting; cursor: AlertPlace | undefined }) => CountPiece;
    /** The alert that begins at a place. */
    readonly get: (place: AlertPlace) => StoredAlert | undefined;
    /** Behind the newest alert. */
    readonly end: (call: Readonly<Record<string, never>>) => AlertPlace | undefined;
    readonly stats: (call: Readonly<Record<string, never>>) => StoreStats;
    readonly limits: (limits: StoreLimits) => void;
    /** Stops reading: what is sealed is on the disk anyway. */
    readonly stop: (call: Readonly<Record<string, never>>) => void;
  };
  readonly news:
    | { readonly kind: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }
    /** There is more to find. */
    | { readonly kind: 'grown' };
};
