import { setTimeout as sleep } from 'node:timers/promises';
import { Thread, type ThreadMemory, type ThreadOptions } from './thread.js';
import type { JobContract } from './thread-contract.js';

/** Time for a thread to end, milliseconds. */
const CLOSE_MS = 1000;

/** A piece of work took longer than it may. */
export class ThreadDeadlineError extends Error {
  override readonly name = 'ThreadDeadlineError';
  readonly code = 'thread_deadline';
  /** Whether the thread is still there, in a system call that does not return; one that was merely slow has ended. */
  isLeft = false;

  constructor(title: string, mostMs: number) {
    super(`${title} took more than ${String(mostMs / 1000)} s`);
  }
}

export type JobOptions<Input, Output, News> = {
  /** The thread in words for errors. */
  readonly title: string;
  readonly memory?: ThreadMemory;
  /** Milliseconds the work may take; without it any time. */
  readonly mostMs?: number;
  /** Calls the work off. */
  readonly signal?: AbortSignal;
  readonly onNews?: ThreadOptions<JobContract<Input, Output, News>>['onNews'];
};

/**
 * Does one piece of work in a thread of its own (`serveJob` is its other side), which is gone afterwards. One in a system call
 * that does not return is left behind.
 * @param module of the thread: `new URL('./x-thread.js', import.meta.url)`
 * @throws Error with the message and code of what `run` threw; ThreadDeadlineError; ThreadEndedError; the reason of `signal`
 */
export async function runInThread<Input, Output, News = never>(
  module: URL,
  input: Input,
  { title, memory, mostMs, signal, onNews }: JobOptions<Input, Output, News>,
): Promise<Output> {
  signal?.throwIfAborted();
  const thread = new Thread<JobContract<Input, Output, News>>(module, {
    title,
    data: undefined,
    ...(memory === undefined ? {} : { memory }),
    ...(onNews === undefined ? {} : { onNews }),
  });
  const end = (reason: Error): void => void thread.close(reason);
  const abort = (): void => {
    end(signal?.reason instanceof Error ? signal.reason : new Error('called off'));
  };
  signal?.addEventListener('abort', abort, { once: true });
  const timer =
    mostMs === undefined ? undefined : setTimeout(() => end(new ThreadDeadlineError(title, mostMs)), mostMs);
  let failure: unknown;
  try {
    return await thread.call('run', input);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    const ended = thread.close().then(() => true);
    const isLeft = !(await Promise.race([ended, sleep(CLOSE_MS, false, { ref: false })]));
    if (failure instanceof ThreadDeadlineError) failure.isLeft = isLeft;
  }
}
