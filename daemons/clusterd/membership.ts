import { pause } from '../../lib/async/pause.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { nodeRecord } from '../../lib/cluster/record-kinds.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Commit, RecordCommits } from './records/record-commits.js';
import type { RecordCopy } from './records/record-copy.js';

/** How often it is looked what this home is, milliseconds. */
const LOOK_MS = 1000;

/** What a home is told that the cluster has forgotten. */
const FORGOTTEN =
  "the cluster has forgotten this manager ('svc-control cluster forget' at another one, or another home has its name): 'svc-control cluster join FOLDER' and a restart " +
  "take it back, 'svc-control cluster leave' and a restart make it a manager by itself";

export type MembershipParts = {
  readonly copy: Pick<RecordCopy, 'get' | 'latest' | 'state' | 'note' | 'isForgotten'>;
  /** By which this home joins: at the holder of the lease nothing is written for a home that is no node, or was forgotten. */
  readonly commits: Pick<RecordCommits, 'commit'>;
  readonly node: string;
  readonly instance: string;
  /** Text of `JOINED_FILE`; empty where there is none. */
  readonly joining: string;
  /** That another home has this node's name and is heard. */
  readonly rivalry: () => string | undefined;
  /** Whether such a home would have been heard by now. */
  readonly hasListened: () => boolean;
  readonly logger: Logger;
  readonly now: () => number;
};

/**
 * That this home is the node it says it is: the record of the node names the home. A home that takes the name of one that is
 * heard is refused; one that is not heard any more was lost, and is replaced. A node that the cluster has forgotten is none until it is
 * told to join again: it goes on with what it has, as without NATS.
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
    if (this.forgotten) return FORGOTTEN;
    return this.#parts.rivalry() ?? (this.#accepted ? undefined : 'this node has not joined yet');
  }

  /** Whether this home was a node, and the cluster has forgotten it since. */
  get forgotten(): boolean {
    const { copy, node, joining } = this.#parts;
    if (copy.state.joined !== joining) return false;
    // A new home may have the name since then.
    return copy.state.forgotten === joining || copy.isForgotten(node) || this.#isReplaced;
  }

  /** @throws BusError `cluster_unavailable` when the cluster has forgotten this home: the others hear nothing of it */
  requireNotForgotten(): void {
    if (this.forgotten) throw new BusError('cluster_unavailable', FORGOTTEN);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Forgets another node. @param commit the way of a node's changes @throws BusError `unknown_node`, `node_present`, `stale`, `cluster_unavailable` */
  async forget(
    node: string,
    isPresent: (node: string) => boolean,
    commit: (change: Commit) => Promise<unknown>,
  ): Promise<void> {
    const { copy, logger } = this.#parts;
    if (node === this.#parts.node || isPresent(node)) {
      throw new BusError('node_present', `Node '${node}' of the cluster is there: have it leave first`);
    }
    if ((copy.get('node', node)?.value ?? null) === null) {
      throw new BusError('unknown_node', `The cluster has no node '${node}'`);
    }
    await commit({
      basis: copy.latest(['node']),
      kinds: ['node'],
      changes: [{ kind: 'node', key: node, value: null }],
    });
    logger.info(`Node '${node}' of the cluster is forgotten.`);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        if (this.forgotten) await this.#beForgotten();
        else if (!this.#accepted) await this.#join();
      } catch (error) {
        this.#say(describeError(error));
      }
      await pause(LOOK_MS, signal);
    }
  }

  /** Whether the record of the node names another home, which took its name while this one was away. */
  get #isReplaced(): boolean {
    const { copy, node, instance } = this.#parts;
    const known = nodeRecord.safeParse(copy.get('node', node)?.value).data;
    return known !== undefined && known.instance !== instance;
  }

  async #beForgotten(): Promise<void> {
    this.#accepted = false;
    const { copy, joining } = this.#parts;
    if (copy.state.forgotten !== joining) await copy.note({ forgotten: joining });
    if (this.#said === FORGOTTEN) return;
    this.#said = FORGOTTEN;
    this.#parts.logger.error(`This is no node of the cluster any more: ${FORGOTTEN}.`);
  }

  async #join(): Promise<void> {
    const { copy, commits, node, instance, joining, rivalry, hasListened, logger, now } = this.#parts;
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
    if (copy.state.joined !== joining) await copy.note({ joined: joining });
    this.#accepted = true;
    this.#said = undefined;
    logger.info(`This is node '${node}' of the cluster.`);
  }

  #say(problem: string): void {
    if (this.#said === problem || this.#stopped.signal.aborted) return;
    this.#said = problem;
    this.#parts.logger.error(`This node does not join the cluster: ${problem}.`);
  }
}
