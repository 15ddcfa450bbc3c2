import { Limiter, LimiterFullError } from '../../../lib/async/limiter.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { runInThread, ThreadDeadlineError } from '../../../lib/thread/run-in-thread.js';
import { ThreadEndedError } from '../../../lib/thread/thread.js';
import { busyProblem } from '../../daemons/daemon-failure.js';
import { ApiError } from '../../http/api-error.js';
import type { TestsOrder, TestsReport } from './tests-order.js';

/** Milliseconds that a run may take: the public ruleset loads in seconds, and takes tests by the hundred in another. */
const MOST_MS = 60_000;
/** Memory of a run: the rules of the public ruleset take some 100 MB. */
const HEAP_MEGABYTES = 1024;
/** Runs that wait for their turn: each holds the files of its request. */
const MAX_WAITING = 8;

/** Who asks for a run, and until when. */
export type TestsCaller = {
  /** Id of the user. */
  readonly user: number;
  /** Calls it off. */
  readonly signal: AbortSignal;
};

/** Runs tests of the ruleset, one run at a time, each in a thread of its own with bounds on time and memory. */
export class RulesetTests {
  readonly #queue = new Limiter({ atOnce: 1, mostWaiting: MAX_WAITING });
  /** What ends the waiting of a user's run, by user. */
  readonly #waiting = new Map<number, AbortController>();
  readonly #mostMs: number;

  constructor(mostMs = MOST_MS) {
    this.#mostMs = mostMs;
  }

  /**
   * Of a user one run waits at most: places are few, and who types asks again before the answer to what was there before has come.
   * @throws ApiError 8007 when it takes too long or too much memory; ProblemError 503 when too many wait, or when the
   * user asked for another run while it waited
   */
  async run(order: TestsOrder, { user, signal }: TestsCaller): Promise<TestsReport> {
    this.#waiting.get(user)?.abort(busyProblem('svc-apid'));
    const replaced = new AbortController();
    this.#waiting.set(user, replaced);
    const begun = (): void => {
      if (this.#waiting.get(user) === replaced) this.#waiting.delete(user);
    };
    const work = () => {
      begun();
      return runInThread<TestsOrder, TestsReport>(new URL('./tests-thread.js', import.meta.url), order, {
        title: 'the run',
        memory: { old: HEAP_MEGABYTES },
        mostMs: this.#mostMs,
        signal,
      });
    };
    try {
      return await this.#queue.run(work, { signal: AbortSignal.any([signal, replaced.signal]) });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LimiterFullError) throw busyProblem('svc-apid');
      if (error instanceof ThreadDeadlineError || error instanceof ThreadEndedError || isOutOfMemory(error)) {
        throw new ApiError(8007, { extra: describeError(error) });
      }
      throw error;
    } finally {
      begun();
    }
  }
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}
