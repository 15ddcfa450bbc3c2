import { type Agent, linkOf } from '../agent-link.js';
import type { FilePusher } from './file-pusher.js';
import type { PushContents } from './push-contents.js';
import { MAX_SETTLE_MS, SETTLE_MS } from './push-limits.js';

/** What is to be known of agents' control messages, after they were acknowledged. */
export interface ConfigurationWatcher {
  /** The agent begins anew: no file of an earlier push is open any more. */
  startup(agent: Agent): void;
  /** What it reported is in its link. */
  keepalive(agent: Agent): void;
  /**
   * Whether a checksum of its merged file is of a whole one. Agents write what is pushed straight into their file:
   * until they have all of it, they report a file that nobody has made.
   */
  isWhole(agent: Agent, mergedSum: string | undefined): boolean;
}

/** An agent without a merged file reports it so. */
const NO_FILE = 'x';

/**
 * Compares what each agent reports with the merged file of its groups, and has the file pushed when it is another one
 * (agents-and-groups.md 4.3). Pushes never begin but after a keepalive.
 */
export class ConfigurationCheck implements ConfigurationWatcher {
  readonly #contents: Pick<PushContents, 'sumFor'>;
  readonly #pusher: Pick<FilePusher, 'offer' | 'abandon' | 'isRunning'>;
  readonly #now: () => number;

  /** @param now milliseconds, of the pusher's clock */
  constructor(
    contents: Pick<PushContents, 'sumFor'>,
    pusher: Pick<FilePusher, 'offer' | 'abandon' | 'isRunning'>,
    now: () => number,
  ) {
    this.#contents = contents;
    this.#pusher = pusher;
    this.#now = now;
  }

  startup(agent: Agent): void {
    linkOf(agent).pushed = undefined;
    this.#pusher.abandon(agent);
  }

  keepalive(agent: Agent): void {
    const link = linkOf(agent);
    // An agent that reports no checksum takes no file.
    if (link.mergedSum === undefined) return;
    const sum = this.#contents.sumFor(agent);
    if (sum === undefined || sum === link.mergedSum) {
      link.pushed = undefined;
      return;
    }
    const { pushed } = link;
    if (pushed?.md5 === sum) {
      const settle = Math.min(SETTLE_MS * 2 ** (pushed.times - 1), MAX_SETTLE_MS);
      if (this.#now() - pushed.at < settle) return;
    }
    this.#pusher.offer(agent);
  }

  isWhole(agent: Agent, mergedSum: string | undefined): boolean {
    if (mergedSum === undefined || mergedSum === NO_FILE || mergedSum === this.#contents.sumFor(agent)) return true;
    if (this.#pusher.isRunning(agent)) return false;
    // The network and the agent may hold back what was sent.
    const { pushed } = linkOf(agent);
    return pushed === undefined || this.#now() - pushed.at >= MAX_SETTLE_MS;
  }
}
