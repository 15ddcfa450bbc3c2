import { Limiter, LimiterFullError } from '../../lib/async/limiter.js';
import { runInThread } from '../../lib/thread/run-in-thread.js';
import { ThreadEndedError } from '../../lib/thread/thread.js';
import { busyProblem } from '../daemons/daemon-failure.js';
import { ApiError } from '../http/api-error.js';
import {
  AGENT_CONF_WORKS,
  type AgentConfOutcome,
  type AgentConfWorkName,
  type AgentConfWorks,
} from './agent-conf-work.js';

/** What a thread is given. */
export type AgentConfOrder = { readonly name: AgentConfWorkName; readonly text: string; readonly file: string };

/** Characters that are read where the request is: some ten milliseconds of work, less than a thread takes to begin. */
const MAX_IN_PLACE = 65_536;
/** Large files that wait for the thread at most: each is held in memory. */
const MAX_WAITING = 16;
/** Memory of the thread: a file of 4 MiB takes a few hundred. */
const HEAP_MEGABYTES = 1024;

/** Reads agent.conf files; large ones one at a time in a thread, so that no other request waits for them. */
export class AgentConfWorker {
  readonly #queue = new Limiter({ atOnce: 1, mostWaiting: MAX_WAITING - 1 });

  /**
   * @param file name in the errors
   * @param signal ends the work of a request that nobody waits for any more
   * @throws ApiError of what is wrong with the text; ProblemError 503 when too many wait; Error when the thread cannot do it
   */
  async run<K extends AgentConfWorkName>(
    name: K,
    text: string,
    file: string,
    signal: AbortSignal,
  ): Promise<AgentConfWorks[K]> {
    const outcome =
      text.length <= MAX_IN_PLACE ? AGENT_CONF_WORKS[name](text, file) : await this.#aside(name, text, file, signal);
    if (!outcome.ok) throw new ApiError(outcome.code, outcome.detail);
    return outcome.value;
  }

  async #aside<K extends AgentConfWorkName>(
    name: K,
    text: string,
    file: string,
    signal: AbortSignal,
  ): Promise<AgentConfOutcome<AgentConfWorks[K]>> {
    try {
      return await this.#queue.run(() => inThread({ name, text, file }, signal));
    } catch (error) {
      throw error instanceof LimiterFullError ? busyProblem('svc-apid') : error;
    }
  }
}

async function inThread<T>(order: AgentConfOrder, signal: AbortSignal): Promise<AgentConfOutcome<T>> {
  const title = `the thread that read ${order.file}`;
  try {
    return await runInThread<AgentConfOrder, AgentConfOutcome<T>>(
      new URL('./agent-conf-thread.js', import.meta.url),
      order,
      { title, memory: { old: HEAP_MEGABYTES }, signal },
    );
  } catch (error) {
    throw error instanceof ThreadEndedError ? new Error(`${error.message} with ${String(error.exitCode)}`) : error;
  }
}
