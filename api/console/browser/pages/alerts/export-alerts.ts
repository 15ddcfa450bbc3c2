import { type AlertList, missingOf } from '../../client/alerts.js';
import { Failure } from '../../client/failure.js';
import { CSV_HEAD, csvLine } from './csv.js';

export type ExportFormat = 'csv' | 'ndjson';

/** Alerts of an export at most: the browser holds all of it. */
export const MOST_EXPORTED = 50_000;
/** Alerts of a page: the most that the API gives. */
const PAGE = 500;
/** Milliseconds between pages: the requests a minute that the API allows are for everybody. */
const PACE_MS = 400;
/** Milliseconds until a server that has had too many requests is asked again, and how often. */
const FULL_MS = 15_000;
const MOST_TRIES = 8;

type ExportParts = {
  readonly ask: (page: { readonly limit: number; readonly cursor: string | undefined }) => Promise<AlertList>;
  readonly onProgress: (count: number) => void;
  readonly signal: AbortSignal;
  readonly pause?: (ms: number) => Promise<void>;
};

export type Exported = {
  readonly pieces: readonly string[];
  readonly count: number;
  /** Whether that is all that is found. */
  readonly isWhole: boolean;
  /** Whose alerts are missing. */
  readonly missing: readonly string[];
};

/** Alerts page by page, up to {@link MOST_EXPORTED}. @throws Failure; an AbortError when the signal ends it */
export async function exportAlerts(
  format: ExportFormat,
  { ask, onProgress, signal, pause = wait }: ExportParts,
): Promise<Exported> {
  const pieces: string[] = format === 'csv' ? [CSV_HEAD] : [];
  const missing = new Set<string>();
  let count = 0;
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) await pause(PACE_MS);
    const page = await patiently(() => ask({ limit: Math.min(PAGE, MOST_EXPORTED - count), cursor }), signal, pause);
    const alerts = page.affected_items;
    const lines = alerts.map((alert) => (format === 'csv' ? csvLine(alert) : `${JSON.stringify(alert)}\n`));
    if (lines.length > 0) pieces.push(lines.join(''));
    for (const text of missingOf(page.failed_items)) missing.add(text);
    count += alerts.length;
    cursor = page.next_cursor ?? undefined;
    onProgress(count);
  } while (cursor !== undefined && count < MOST_EXPORTED);
  return { pieces, count, isWhole: cursor === undefined, missing: [...missing] };
}

async function patiently(
  ask: () => Promise<AlertList>,
  signal: AbortSignal,
  pause: (ms: number) => Promise<void>,
): Promise<AlertList> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 429 || tries === MOST_TRIES) throw error;
      await pause(FULL_MS);
    }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
