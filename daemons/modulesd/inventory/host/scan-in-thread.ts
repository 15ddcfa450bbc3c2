import { runInThread } from '../../../../lib/thread/run-in-thread.js';
import type { ScanNews, ScanOrder, ScanSummary } from './scan-order.js';

/** Longest scan, milliseconds: one that hangs in a file system must not stop the next. */
const MOST_MS = 10 * 60_000;
/** Megabytes the thread may hold: a host with 100,000 packages takes a third. */
const MEMORY = { old: 512 };

/** Scans the host in a thread that is gone afterwards. @throws Error when it ends before its time, or takes too long */
export function scanInThread(
  order: ScanOrder,
  onNews: (news: ScanNews) => void,
  signal: AbortSignal,
): Promise<ScanSummary> {
  return runInThread<ScanOrder, ScanSummary, ScanNews>(new URL('./scan-thread.js', import.meta.url), order, {
    title: 'The scan of the inventory',
    ...{ memory: MEMORY, mostMs: MOST_MS, signal, onNews },
  });
}
