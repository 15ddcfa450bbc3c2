import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { NoteLevel } from './check-context.js';
import type { RootcheckSettings } from './rootcheck-settings.js';

/** What the thread of a scan is started with. */
export type ScanThreadData = { readonly settings: RootcheckSettings; readonly flags: SharedArrayBuffer };

/** What it says. */
export type ScanThreadMessage =
  | { readonly kind: 'finding'; readonly text: string }
  | { readonly kind: 'note'; readonly level: NoteLevel; readonly text: string }
  | { readonly kind: 'done' };

/** Places of what both sides see: to stop, and how many steps were made. */
export const FLAGS = { stop: 0, progress: 1 } as const;
/** Findings on their way: more, and the thread waits. */
export const MOST_UNTAKEN = 64;
/** Findings of one scan: a host with more has one trouble, and not as many. */
const MOST_FINDINGS = 10_000;

/** Megabytes the thread may hold. */
const THREAD_MEGABYTES = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8 };
/** How often the progress is looked at, milliseconds. */
const WATCH_MS = 30_000;
/** Looks without any progress after which the scan is given up: a system call that does not return, say. */
const MOST_IDLE_LOOKS = 40;

/** Time for the thread to end, milliseconds. */
const TERMINATE_MS = 1000;

/** Who hears of a scan. */
export type RootcheckListener = {
  /** @param text byte string. The scan goes on when it resolves */
  readonly finding: (text: string) => Promise<void>;
  readonly note: (level: NoteLevel, text: string) => void;
};

/** The scan got stuck, or its thread broke. */
export class RootcheckError extends Error {
  override readonly name = 'RootcheckError';
  readonly code = 'rootcheck_failed';
}

/**
 * Makes one scan in a thread of its own.
 * @throws RootcheckError; the reason of `signal` when it is aborted; the error of `listener.finding`
 */
export async function runRootcheck(
  settings: RootcheckSettings,
  listener: RootcheckListener,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const flags = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const shared = new Int32Array(flags);
  const data: ScanThreadData = { settings, flags };
  const worker = new Worker(new URL('./rootcheck-thread.js', import.meta.url), {
    workerData: data,
    resourceLimits: THREAD_MEGABYTES,
  });
  let taking = Promise.resolve();
  let found = 0;
  let surplus = 0;
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => {
        reject(signal.reason instanceof Error ? signal.reason : new Error('called off'));
      };
      signal.addEventListener('abort', abort, { once: true });
      timer = watchProgress(shared, () => {
        reject(new RootcheckError('The rootcheck scan makes no progress and is given up'));
      });
      worker.on('message', (message: ScanThreadMessage) => {
        if (message.kind === 'note') {
          listener.note(message.level, message.text);
        } else if (message.kind === 'done') {
          taking.then(resolve, reject);
        } else {
          found += 1;
          if (found > MOST_FINDINGS) {
            surplus += 1;
            worker.postMessage('taken');
            return;
          }
          taking = taking.then(() => listener.finding(message.text));
          taking.then(() => {
            worker.postMessage('taken');
          }, reject);
        }
      });
      worker.on('error', (error) => {
        const text = error instanceof Error ? error.message : String(error);
        reject(new RootcheckError(`The thread of the rootcheck scan broke: ${text}`));
      });
      worker.on('exit', () => {
        // After `done` what was found may still be on its way to the disk.
        taking.then(() => {
          reject(new RootcheckError('The thread of the rootcheck scan ended'));
        }, reject);
      });
    });
    if (surplus > 0) {
      listener.note(
        'warn',
        `Only ${String(MOST_FINDINGS)} findings of a scan are told: ${String(surplus)} more were left out`,
      );
    }
  } finally {
    clearInterval(timer);
    if (abort !== undefined) signal.removeEventListener('abort', abort);
    Atomics.store(shared, FLAGS.stop, 1);
    // A thread in a system call that does not return is left behind.
    await Promise.race([worker.terminate(), sleep(TERMINATE_MS, undefined, { ref: false })]);
  }
}

/** @param stuck told once when there is no progress */
function watchProgress(shared: Int32Array, stuck: () => void): NodeJS.Timeout {
  let last = -1;
  let idle = 0;
  const timer = setInterval(() => {
    const progress = Atomics.load(shared, FLAGS.progress);
    idle = progress === last ? idle + 1 : 0;
    last = progress;
    if (idle >= MOST_IDLE_LOOKS) stuck();
  }, WATCH_MS);
  timer.unref();
  return timer;
}
