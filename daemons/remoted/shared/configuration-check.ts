import { linkOf, type Agent } from '../agent-link.js';
import type { FilePusher } from './file-pusher.js';
import type { PushContents } from './push-contents.js';
import { MAX_SETTLE_MS, SETTLE_MS } from './push-limits.js';

/** What is to be known of agents' control messages, after they were acknowledged. */
export interface ConfigurationWatcher {
  /** The agent begins anew: no file of an earlier push is open any more. */
  startup(agent: Agent): void;
  /** What it reported is in its link. */
  keepalive(agent: Agent): void;
}

/**
 * Compares what each agent reports with the merged file of its groups, and has the file pushed when it is another one
 * (agents-and-groups.md 4.3). Pushes never begin but after a keepalive.
 */
export class ConfigurationCheck implements ConfigurationWatcher {
  readonly #contents: Pick<PushContents, 'sumFor'>;
  readonly #pusher: Pick<FilePusher, 'offer' | 'abandon'>;
  readonly #now: () => number;

  /** @param now milliseconds, of the pusher's clock */
  constructor(
    contents: Pick<PushContents, 'sumFor'>,
    pusher: Pick<FilePusher, 'offer' | 'abandon'>,
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
}
