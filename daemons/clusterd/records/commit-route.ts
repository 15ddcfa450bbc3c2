import { BusError } from '../../../lib/bus/bus-error.js';
import type { NodeAsks } from '../nodes/node-asks.js';
import type { Commit, RecordCommits } from './record-commits.js';

/** One change of the holder of the lease takes some tens of milliseconds; so long it is waited for, milliseconds. */
const HOLDER_MS = 3000;
/** A holder that did not answer is not asked for so long, milliseconds: another one is there by then, or it is. */
const SPARED_MS = 10_000;
/** Answers of the holder that this node would give as well. */
const DECIDED: ReadonlySet<string> = new Set(['stale', 'too_large', 'bad_record']);

export type CommitRouteParts = {
  readonly self: string;
  readonly commits: Pick<RecordCommits, 'commit' | 'follow' | 'overtook'>;
  readonly asks: Pick<NodeAsks, 'ask'>;
  /** Who holds the lease, as far as it is known here. */
  readonly holder: () => string | undefined;
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
  /** Changes that the holder wrote for this node, and those that it was asked for in vain. */
  readonly counters = { handed: 0, unheard: 0 };

  constructor(parts: CommitRouteParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** As `records.commit` of the contract. @throws BusError as `RecordCommits.commit` */
  async commit(commit: Commit): Promise<number> {
    const { commits, holder, self } = this.#parts;
    const writer = holder();
    if (writer === undefined || writer === self || !this.#mayHand(writer, commit)) return commits.commit(commit);
    let revision: number;
    try {
      revision = await this.#hand(writer, commit);
    } catch (error) {
      if (error instanceof BusError && DECIDED.has(error.code)) {
        if (error.code === 'stale') commits.overtook();
        throw error;
      }
      this.counters.unheard += 1;
      this.#spared = { node: writer, until: this.#now() + SPARED_MS };
      // If it is written all the same, this is refused as stale: both are held against the same basis.
      return commits.commit(commit);
    }
    this.counters.handed += 1;
    await commits.follow(revision);
    return revision;
  }

  /** What changes none of the kinds that it is held against could be written twice, with something of others between. */
  #mayHand(writer: string, { kinds, changes }: Commit): boolean {
    const isSpared = this.#spared?.node === writer && this.#now() < this.#spared.until;
    return !isSpared && changes.some(({ kind }) => kinds.includes(kind));
  }

  async #hand(node: string, commit: Commit): Promise<number> {
    const question = { node, daemon: 'svc-clusterd', method: 'records.write', params: commit, deadlineMs: HOLDER_MS };
    const answer = (await this.#parts.asks.ask(question)) as { readonly revision: number };
    return answer.revision;
  }
}
