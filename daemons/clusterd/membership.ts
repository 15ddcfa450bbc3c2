import { pause } from '../../lib/async/pause.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { nodeRecord } from '../../lib/cluster/record-kinds.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { RecordCommits } from './records/record-commits.js';
import type { RecordCopy } from './records/record-copy.js';

const RETRY_MS = 1000;

export type MembershipParts = {
  readonly copy: Pick<RecordCopy, 'get' | 'latest' | 'state'>;
  readonly commits: Pick<RecordCommits, 'commit'>;
  readonly node: string;
  readonly instance: string;
  /** That another home has this node's name and is heard. */
  readonly rivalry: () => string | undefined;
  /** Whether such a home would have been heard by now. */
  readonly hasListened: () => boolean;
  readonly logger: Logger;
  readonly now: () => number;
};

/**
 * That this home is the node it says it is: the record of the node names the home. A home that takes the name of one that is
 * heard is refused; one that is not heard any more was lost, and is replaced.
 */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #accepted = false;
  #said: string | undefined;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Why this home is not a node yet; undefined when it is. */
  get problem(): string | undefined {
    return this.#parts.rivalry() ?? (this.#accepted ? undefined : 'this node has not joined yet');
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Forgets another node. @throws BusError `unknown_node`, `node_present`, `stale`, `cluster_unavailable` */
  async forget(node: string, isPresent: (node: string) => boolean): Promise<void> {
    const { copy, commits, logger } = this.#parts;
    if (node === this.#parts.node || isPresent(node)) {
      throw new BusError('node_present', `Node '${node}' of the cluster is there: have it leave first`);
    }
    if ((copy.get('node', node)?.value ?? null) === null) {
      throw new BusError('unknown_node', `The cluster has no node '${node}'`);
    }
    await commits.commit({
      basis: copy.latest(['node']),
      kinds: ['node'],
      changes: [{ kind: 'node', key: node, value: null }],
    });
    logger.info(`Node '${node}' of the cluster is forgotten.`);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#accepted) {
      try {
        await this.#join();
      } catch (error) {
        this.#say(describeError(error));
      }
      if (!this.#accepted) await pause(RETRY_MS, signal);
    }
  }

  async #join(): Promise<void> {
    const { copy, commits, node, instance, rivalry, hasListened, logger, now } = this.#parts;
    if (!copy.state.whole) return;
    const known = nodeRecord.safeParse(copy.get('node', node)?.value).data;
    if (known?.instance !== instance) {
      const rival = rivalry();
      if (rival !== undefined) {
        this.#say(rival);
        return;
      }
      // The records may come sooner than the next beat of the home that has the name.
      if (known !== undefined && !hasListened()) return;
      const value = { instance, joinedAt: Math.floor(now() / 1000) };
      try {
        await commits.commit({
          basis: copy.latest(['node']),
          kinds: ['node'],
          changes: [{ kind: 'node', key: node, value }],
        });
      } catch (error) {
        if (error instanceof BusError && error.code === 'stale') return;
        throw error;
      }
      if (known !== undefined) {
        logger.warn(
          `Node '${node}' of the cluster was another home before, which is not heard: this one takes its place.`,
        );
      }
    }
    this.#accepted = true;
    logger.info(`This is node '${node}' of the cluster.`);
  }

  #say(problem: string): void {
    if (this.#said === problem || this.#stopped.signal.aborted) return;
    this.#said = problem;
    this.#parts.logger.error(`This node does not join the cluster: ${problem}.`);
  }
}
