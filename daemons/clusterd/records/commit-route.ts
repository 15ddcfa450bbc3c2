import { BusError } from '../../../lib/bus/bus-error.js';
import type { RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import { STALE } from '../../../lib/cluster/stale-error.js';
import type { NodeAsks } from '../nodes/node-asks.js';
import { type Commit, commitId, NOT_KNOWN, type RecordCommits } from './record-commits.js';

/** One change of the holder of the lease takes some tens of milliseconds; so long it is waited for, milliseconds, and for each record. */
const HOLDER_MS = 3000;
const RECORD_MS = 10;
/** A holder that did not answer is not asked for so long, milliseconds: another one is there by then, or it is. */
const SPARED_MS = 10_000;
/** Failures that say for sure that the holder never began. */
const NOT_BEGUN: ReadonlySet<string> = new Set(['node_away', 'unknown_node', 'not_askable', 'too_large', 'bad_record']);

export type CommitRouteParts = {
  readonly self: string;
  readonly commits: Pick<
    RecordCommits,
    'commit' | 'follow' | 'overtook' | 'leaveOthers' | 'madeAt' | 'requireLatest' | 'turn'
  >;
  readonly asks: Pick<NodeAsks, 'ask'>;
  /** Who holds the lease, as far as it is known here. */
  readonly holder: () => string | undefined;
  /** Why this node may change nothing in common, if it may not: then nobody else writes for it, either. */
  readonly hindrance: () => string | undefined;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
};

/**
 * Has the holder of the lease write what is decided at any node, one after the other. Each could write itself, as each does where
 * the holder is not heard; but of two that write at once the servers refuse one, and where nats-server 2.9 had refused many
 * messages it was seen to forget acknowledged ones when it was killed (docs/cluster.md). So as few as can be are refused.
 */
export class CommitRoute {
  readonly #parts: CommitRouteParts;
  readonly #now: () => number;
  #spared: { readonly node: string; readonly until: number } | undefined;
  /** Changes that the holder wrote for this node, those that it was asked for in vain, and those that were to be decided anew. */
  readonly counters = { handed: 0, unheard: 0, stale: 0 };

  constructor(parts: CommitRouteParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** As `records.commit` of the contract. @throws BusError as `RecordCommits.commit` */
  async commit(decided: Commit): Promise<number> {
    const commit = { id: commitId(), ...decided };
    const { commits, holder, hindrance, self } = this.#parts;
    const writer = holder();
    try {
      // What hinders this node is said by its own attempt.
      if (hindrance() === undefined && writer !== undefined) {
        if (writer === self) return await commits.commit(commit);
        if (this.#mayHand(writer, commit)) return await this.#handOver(writer, commit);
      }
      return await this.#write(commit);
    } catch (error) {
      if (isStale(error)) this.counters.stale += 1;
      throw error;
    }
  }

  /**
   * As `records.turn` of the contract: where the holder is not heard, or knows no turns, each decides when it likes.
   * @param withinMs how long who asks waits for it @returns the revision to decide on, which this node has then; 0 without a turn
   */
  async turn(kinds: readonly RecordKind[], withinMs = HOLDER_MS): Promise<number> {
    const { commits, holder, hindrance, self, asks } = this.#parts;
    const writer = holder();
    if (writer === undefined || hindrance() !== undefined || this.#isSpared(writer)) return 0;
    if (writer === self) return commits.turn(kinds, { node: self, withinMs });
    const deadlineMs = Math.min(HOLDER_MS, withinMs);
    const params = { kinds: [...kinds], node: self, withinMs: deadlineMs };
    const question = { node: writer, daemon: 'svc-clusterd', method: 'records.give', params, deadlineMs };
    try {
      const { revision } = (await asks.ask(question)) as { readonly revision: number };
      await commits.follow(revision);
      return revision;
    } catch {
      return 0;
    }
  }

  /** Where each writes itself the quickest would be first again and again. */
  async #write(commit: Commit): Promise<number> {
    const { commits } = this.#parts;
    const began = this.#now();
    try {
      const revision = await commits.commit(commit);
      await commits.leaveOthers(this.#now() - began);
      return revision;
    } catch (error) {
      if (isStale(error)) commits.overtook();
      throw error;
    }
  }

  async #handOver(writer: string, commit: Commit): Promise<number> {
    const { commits } = this.#parts;
    // It need not go the way to the holder to be refused there.
    commits.requireLatest(commit);
    let revision: number;
    try {
      revision = await this.#hand(writer, commit);
    } catch (error) {
      if (isStale(error)) throw error;
      this.counters.unheard += 1;
      this.#spared = { node: writer, until: this.#now() + SPARED_MS };
      return this.#writeInstead(commit, error);
    }
    this.counters.handed += 1;
    // Nothing of it is to be in force here.
    if (commit.changes.length > 0) await commits.follow(revision);
    return revision;
  }

  /**
   * Both attempts are held against the same basis: one of them is made at most. Where the holder may have been the one, what this node
   * has of the records says so once its own is refused as stale, since nothing that is held against that basis can come behind.
   */
  async #writeInstead(commit: Commit, unheard: unknown): Promise<number> {
    const { commits } = this.#parts;
    try {
      return await this.#write(commit);
    } catch (error) {
      const isBegun = !(unheard instanceof BusError && NOT_BEGUN.has(unheard.code));
      if (!isBegun || !(error instanceof BusError)) throw error;
      const made = error.code === 'stale' ? commits.madeAt(commit) : undefined;
      if (made !== undefined) return made;
      if (error.code === 'stale' || error.message.endsWith(NOT_KNOWN)) throw error;
      throw new BusError('cluster_unavailable', `${error.message}; ${NOT_KNOWN}`, { cause: error });
    }
  }

  /** What changes none of the kinds that it is held against could be written twice, with something of others between. */
  #mayHand(writer: string, { kinds, changes }: Commit): boolean {
    const isHarmless = changes.length === 0 || changes.some(({ kind }) => kinds.includes(kind));
    return isHarmless && !this.#isSpared(writer);
  }

  #isSpared(writer: string): boolean {
    return this.#spared?.node === writer && this.#now() < this.#spared.until;
  }

  async #hand(node: string, commit: Commit): Promise<number> {
    const deadlineMs = holderMs(commit);
    const params = { ...commit, node: this.#parts.self };
    const question = { node, daemon: 'svc-clusterd', method: 'records.write', params, deadlineMs };
    const answer = (await this.#parts.asks.ask(question)) as { readonly revision: number };
    return answer.revision;
  }
}

function isStale(error: unknown): boolean {
  return error instanceof BusError && error.code === STALE;
}

/** How long whoever hands a change over waits for it, milliseconds. */
export function holderMs({ changes }: Pick<Commit, 'changes'>): number {
  return HOLDER_MS + RECORD_MS * changes.length;
}
