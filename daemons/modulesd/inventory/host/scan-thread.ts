import { serveJob } from '../../../../lib/thread/serve-thread.js';
import { setThreadPriority } from '../../../../lib/thread/thread-priority.js';
import { scanHost } from './scan-host.js';
import type { ScanNews, ScanOrder, ScanSummary } from './scan-order.js';

/** One scan of the host in a thread of its own: whatever it waits for, the daemon goes on. */
serveJob<ScanOrder, ScanSummary, ScanNews>((order, tell) => {
  setThreadPriority(order.nice);
  return scanHost(order, tell);
});
