import type { Logger } from '../../../../lib/log/logger.js';
import { errorOf } from './indexer-answers.js';
import type { IndexerAnswer } from './indexer-client.js';

export type IndexerHostsParts = {
  /** In the order of the configuration. */
  readonly hosts: readonly string[];
  /** Asks a host for its health: `GET /_cat/health?format=json`. @throws Error */
  readonly health: (host: string, signal: AbortSignal) => Promise<IndexerAnswer>;
  readonly logger: Logger;
  /** Changes with the account: another one is tried at once. */
  readonly stamp: () => string;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
};

type HostState = { readonly host: string; isAvailable: boolean; checkAt: number; pauseMs: number; problem: string };

/** A host that is available is asked again after so long, milliseconds (indexer.md 4.4). */
const CHECK_MS = 60_000;
/** One that is not, first after this and then after twice as long each time. */
const FIRST_PAUSE_MS = 1000;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Which of the search engine's hosts takes the next request: round robin over those that are available. */
export class IndexerHosts {
  readonly #parts: IndexerHostsParts;
  readonly #states: readonly HostState[];
  #next = 0;
  #stamp: string;
  #forbiddenTold = false;

  constructor(parts: IndexerHostsParts) {
    this.#parts = parts;
    this.#stamp = parts.stamp();
    this.#states = parts.hosts.map((host) => ({
      host,
      isAvailable: false,
      checkAt: 0,
      pauseMs: FIRST_PAUSE_MS,
      problem: '',
    }));
  }

  /** Hosts that take requests, as far as is known. */
  get available(): number {
    return this.#states.filter(({ isAvailable }) => isAvailable).length;
  }

  /** @throws Error `No available server` with what is wrong with each */
  async take(signal: AbortSignal): Promise<string> {
    const now = this.#parts.now ?? (() => performance.now());
    const stamp = this.#parts.stamp();
    if (stamp !== this.#stamp) for (const state of this.#states) state.checkAt = 0;
    this.#stamp = stamp;
    const turn = [...this.#states.slice(this.#next), ...this.#states.slice(0, this.#next)];
    for (const state of turn) {
      this.#next = (this.#next + 1) % this.#states.length;
      if (now() >= state.checkAt) await this.#check(state, now, signal);
      if (state.isAvailable) return state.host;
    }
    const problems = this.#states.map(({ host, problem }) => problem || `${host} has not been asked`);
    throw new Error(`No available server: ${problems.join('; ')}`);
  }

  /** A request to it got no answer. */
  failed(host: string, problem: string): void {
    const state = this.#states.find((candidate) => candidate.host === host);
    if (state !== undefined) this.#setBack(state, problem, (this.#parts.now ?? (() => performance.now()))());
  }

  async #check(state: HostState, now: () => number, signal: AbortSignal): Promise<void> {
    const { logger, health } = this.#parts;
    try {
      const answer = await health(state.host, signal);
      const problem = problemOf(answer);
      if (problem !== undefined) {
        logger.debug(`Server '${state.host}' is not available: ${problem}`);
        this.#setBack(state, `${state.host}: ${problem}`, now());
        // Accounts are locked after some tries.
        if (answer.status === UNAUTHORIZED) state.checkAt = now() + CHECK_MS;
        return;
      }
      if (answer.status === FORBIDDEN && !this.#forbiddenTold) {
        this.#forbiddenTold = true;
        logger.warn(
          `The account may not ask '${state.host}' for its health (cluster:monitor/health): it is taken for available.`,
        );
      }
      Object.assign(state, { isAvailable: true, checkAt: now() + CHECK_MS, pauseMs: FIRST_PAUSE_MS, problem: '' });
    } catch (error) {
      signal.throwIfAborted();
      const problem = error instanceof Error ? error.message : String(error);
      logger.debug(`Server '${state.host}' is not available: ${problem}`);
      this.#setBack(state, problem, now());
    }
  }

  #setBack(state: HostState, problem: string, now: number): void {
    state.isAvailable = false;
    state.problem = problem;
    state.checkAt = now + state.pauseMs;
    state.pauseMs = Math.min(2 * state.pauseMs, CHECK_MS);
  }
}

/** Why a host that answered so is not available. */
function problemOf(answer: IndexerAnswer): string | undefined {
  if (answer.status === FORBIDDEN) return undefined;
  if (answer.status === UNAUTHORIZED) return `${errorOf(answer).shown} (name or password is not right)`;
  if (answer.status !== 200) return errorOf(answer).shown;
  try {
    const [first] = JSON.parse(answer.text) as { readonly status?: unknown }[];
    if (first?.status === 'green' || first?.status === 'yellow') return undefined;
    return `its health is '${String(first?.status)}'`;
  } catch {
    return 'what it says of its health cannot be read';
  }
}
