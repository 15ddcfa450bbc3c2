import { runInThread } from '../thread/run-in-thread.js';
import { ThreadEndedError } from '../thread/thread.js';
import type { NoteLevel } from './check-context.js';
import type { RootcheckSettings } from './rootcheck-settings.js';

/** What the thread of a scan is given. */
export type RootcheckOrder = {
  readonly settings: RootcheckSettings;
  /** One number that both sides see: how many steps were made. */
  readonly progress: SharedArrayBuffer;
};

/** What it says. */
export type RootcheckNews =
  | { readonly kind: 'finding'; readonly text: string }
  | { readonly kind: 'note'; readonly level: NoteLevel; readonly text: string };

/** Findings on their way: more, and the thread waits. */
export const MOST_UNTAKEN = 64;
/** Findings of one scan: a host with more has one trouble, and not as many. */
const MOST_FINDINGS = 10_000;

/** Megabytes the thread may hold. */
const THREAD_MEGABYTES = { old: 192, young: 8 };
/** How often the progress is looked at, milliseconds. */
const WATCH_MS = 30_000;
/** Looks without any progress after which the scan is given up: a system call that does not return, say. */
const MOST_IDLE_LOOKS = 40;

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
  const progress = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const giveUp = new AbortController();
  const timer = watchProgress(new Int32Array(progress), () => {
    giveUp.abort(new RootcheckError('The rootcheck scan makes no progress and is given up'));
  });
  const called = AbortSignal.any([signal, giveUp.signal]);
  let taking = Promise.resolve();
  let found = 0;
  try {
    await runInThread<RootcheckOrder, undefined, RootcheckNews>(
      new URL('./rootcheck-thread.js', import.meta.url),
      { settings, progress },
      {
        title: 'The thread of the rootcheck scan',
        memory: THREAD_MEGABYTES,
        signal: called,
        onNews(news) {
          if (news.kind === 'note') return listener.note(news.level, news.text);
          found += 1;
          if (found > MOST_FINDINGS) return undefined;
          taking = taking.then(() => listener.finding(news.text));
          taking.catch((error: unknown) => giveUp.abort(error));
          return taking;
        },
      },
    );
  } catch (error) {
    if (called.aborted || !(error instanceof Error)) throw error;
    throw new RootcheckError(
      error instanceof ThreadEndedError ? error.message : `The thread of the rootcheck scan broke: ${error.message}`,
    );
  } finally {
    clearInterval(timer);
  }
  if (found > MOST_FINDINGS) {
    listener.note(
      'warn',
      `Only ${String(MOST_FINDINGS)} findings of a scan are told: ${String(found - MOST_FINDINGS)} more were left out`,
    );
  }
}

/** @param stuck told once when there is no progress */
function watchProgress(steps: Int32Array, stuck: () => void): NodeJS.Timeout {
  let last = -1;
  let idle = 0;
  const timer = setInterval(() => {
    const progress = Atomics.load(steps, 0);
    idle = progress === last ? idle + 1 : 0;
    last = progress;
    if (idle >= MOST_IDLE_LOOKS) stuck();
  }, WATCH_MS);
  timer.unref();
  return timer;
}
