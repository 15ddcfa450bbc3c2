import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { isErrno } from '../../lib/files/is-errno.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

/** Threads of this process: the system keeps a nice value for each, and a new one takes that of its maker. */
const OWN_THREADS = '/proc/self/task';

/**
 * Sets `<process_priority>` for this process, its threads included.
 * @param nice -20 to 19; below what it is now, root alone may
 */
export function setProcessPriority(nice: number, logger: Logger): void {
  try {
    for (const thread of readdirSync(OWN_THREADS)) setOne(Number(thread), nice);
  } catch (error) {
    logger.warn(`The priority of the process cannot be set to ${nice}: ${describeError(error)}`);
  }
}

function setOne(thread: number, nice: number): void {
  try {
    setPriority(thread, nice);
  } catch (error) {
    // One that has ended since the list was read.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
