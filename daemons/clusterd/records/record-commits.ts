import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { pause } from '../../../lib/async/pause.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { MAX_RECORD_BYTES, type RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import { RECORD_SCHEMAS } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import { staleError } from '../../../lib/cluster/stale-error.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { NatsLink } from '../nats/nats-link.js';
import { isOvertaken, isRefused, lastSequenceOf } from '../nats/streams.js';
import { CommitTurns } from './commit-turns.js';
import { type Chain, NotTaken, RecordChain } from './record-chain.js';
import type { RecordCopy } from './record-copy.js';
import type { RecordMessage, RecordMessages } from './record-messages.js';

/** After so long a commit is given up, milliseconds. */
const COMMIT_MS = 25_000;
const RETRY_MS = 200;
/** A connection that was lost so lately is waited for, milliseconds: most are mended at once, by another server. */
const MENDING_MS = 5000;
/**
 * Where other nodes are overtaken again and again, one that has written leaves them about the time that it took, milliseconds at most: the
 * quickest would else be first for ever.
 */
const MOST_LEFT_MS = 250;
/** So long after a commit was overtaken, or others were, another one is likely to write at the same time, milliseconds. */
const CONTENDED_MS = 3000;
/** Commits that wait: stops daemons that decide without end from filling memory. */
const MAX_WAITING = 1000;
export type RecordCommitsParts = {
  /** The name of this node. */
  readonly node: string;
  readonly link: NatsLink;
  readonly copy: RecordCopy;
  readonly messages: RecordMessages;
  /** Why this node may not write, if it may not. */
  readonly hindrance: () => string | undefined;
  /** Whether other nodes were overtaken lately. */
  readonly contended: () => boolean;
};

export type Commit = {
  /** By which it is known in the stream, whoever writes it; without one it gets one. */
  readonly id?: string;
  readonly basis: number;
  readonly kinds: readonly RecordKind[];
  readonly changes: readonly RecordChange[];
};

type Identified = Commit & { readonly id: string };

/** Another node that has decided something, and how long it waits for it, milliseconds. */
export type Asker = { readonly node: string; readonly withinMs: number };

/** The same that asks for its turn; earlier versions do not say how long they wait. */
type TurnAsker = { readonly node: string; readonly withinMs?: number | undefined };

/** A change that was checked, and how it is sent. */
type Write = { readonly change: RecordChange; readonly message: RecordMessage };

/** What is said at the end of a failure after which a change may have been made. */
export const NOT_KNOWN = 'it is not known what was made';

/**
 * Writes changes of records: each message names the sequence that it is to come behind, the first one that of this node's
 * copy, each further one its predecessor. So the changes of a commit come one behind the other or not at all, and none where
 * somebody else has written meanwhile; then the copy catches up, and they are written again if nothing of their kinds changed.
 */
export class RecordCommits {
  readonly #parts: RecordCommitsParts;
  readonly #stopped = new AbortController();
  readonly #turns = new CommitTurns();
  readonly #chain: RecordChain;
  /** Highest revision that a message was acknowledged with, or refused for. */
  known = 0;
  /** Revision of the last message of the commit under way, if nobody comes between. */
  #awaited = 0;
  #overtakenAt = -Infinity;
  /** `held`: decisions to change nothing that were held against what all have. */
  readonly counters = { commits: 0, records: 0, held: 0, overtaken: 0, failed: 0 };

  constructor(parts: RecordCommitsParts) {
    this.#parts = parts;
    this.#chain = new RecordChain({
      ...parts,
      reach: (revision, deadline) => this.#reach(revision, deadline),
      signal: this.#stopped.signal,
    });
  }

  /** Revision that a commit waits for the copy to have; one that it has already where none waits. */
  get awaited(): number {
    return Math.max(this.#awaited, this.known);
  }

  stop(): Promise<unknown> {
    this.#stopped.abort();
    return this.#turns.stop();
  }

  /** Another node that writes itself was quicker with what this one had decided: it leaves room when it hears of that. */
  overtook(): void {
    this.counters.overtaken += 1;
  }

  /** @throws BusError `stale` when it is known here that something was changed meanwhile */
  requireLatest({ basis, kinds }: Commit): void {
    const latest = this.#parts.copy.latest(kinds);
    if (latest > basis) throw staleError(latest);
  }

  /** Leaves other nodes about the time that a commit took, where they are overtaken. */
  async leaveOthers(tookMs: number): Promise<void> {
    if (!this.#parts.contended()) return;
    await pause(Math.min(MOST_LEFT_MS, tookMs) * (0.5 + Math.random()), this.#stopped.signal);
  }

  /** The revision with which all of a commit with this id is in the records, whoever wrote it; undefined when it is not. */
  madeAt({ id, basis, changes }: Commit): number | undefined {
    const { copy } = this.#parts;
    let last = 0;
    for (const { kind, key, value } of changes) {
      const { revision = 0, value: found } = copy.get(kind, key) ?? {};
      if (!isDeepStrictEqual(found ?? null, value ?? null)) return undefined;
      // A removal of what was not there was not written.
      if (revision <= basis && (value ?? null) === null) continue;
      if (copy.writerOf(revision) !== id) return undefined;
      last = Math.max(last, revision);
    }
    return last > basis ? last : undefined;
  }

  /** Waits until this node has what was written elsewhere. @throws BusError `cluster_unavailable`: it is made, and does not come */
  follow(revision: number): Promise<void> {
    return this.#reach(revision, performance.now() + COMMIT_MS);
  }

  /**
   * As `records.commit` of the contract.
   * @param asker another node that has decided it
   * @throws BusError `stale`, `too_large`, `bad_record`, `cluster_unavailable`, `busy`
   */
  async commit(commit: Commit, asker?: Asker): Promise<number> {
    const began = performance.now();
    if (this.#turns.waiting >= MAX_WAITING) throw new BusError('busy', 'too many changes of the cluster wait');
    const known = { id: commitId(), ...commit };
    const writes = this.#changes(known).map((change) => ({ change, message: this.#message(change) }));
    const { kinds } = commit;
    const changes = [...new Set(commit.changes.map(({ kind }) => kind))];
    try {
      return await this.#turns.run({ node: asker?.node ?? this.#parts.node, kinds, changes }, () => {
        // Who asked has given it up, and may decide something else by now.
        if (asker !== undefined && performance.now() - began > asker.withinMs) {
          throw new BusError('busy', 'nobody waits for it any more');
        }
        return this.#write(known, writes);
      });
    } catch (error) {
      if (!(error instanceof BusError && error.code === 'stale')) this.counters.failed += 1;
      throw error;
    }
  }

  /**
   * Waits until it is a node's turn to decide: nobody changes what it decides on for a moment.
   * @returns the revision that it is to decide on @throws BusError `cluster_unavailable`; `busy`, also when it came too late
   */
  async turn(kinds: readonly RecordKind[], { node, withinMs = Infinity }: TurnAsker): Promise<number> {
    const began = performance.now();
    if (this.#turns.waiting >= MAX_WAITING) throw new BusError('busy', 'too many changes of the cluster wait');
    await this.#turns.give({ node, kinds, changes: kinds }, () => performance.now() - began > withinMs);
    return this.#parts.copy.latest(kinds);
  }

  /**
   * That nothing is to change holds by what this node has read. Whether that is all there is only a message can tell which comes right
   * behind it: a server that is cut off answers questions as if it led.
   */
  #changes({ id, changes }: Identified): readonly RecordChange[] {
    if (changes.length > 0) return changes;
    return [{ kind: 'barrier', key: this.#parts.node, value: { commit: id } }];
  }

  #message({ kind, key, value }: RecordChange): RecordMessage {
    const schema = kind in RECORD_SCHEMAS ? RECORD_SCHEMAS[kind as keyof typeof RECORD_SCHEMAS] : undefined;
    const checked = value === null || value === undefined ? undefined : schema?.safeParse(value);
    if (checked?.success === false) {
      throw new BusError('bad_record', `${kind} ${key}: ${checked.error.issues[0]?.message ?? 'it is no such record'}`);
    }
    const message = this.#parts.messages.write(kind, key, value);
    if (message.plain.length > MAX_RECORD_BYTES) {
      throw new BusError(
        'too_large',
        `${kind} ${key} has ${message.plain.length} bytes, ${MAX_RECORD_BYTES} is the limit`,
      );
    }
    return message;
  }

  async #write({ id, basis, kinds }: Identified, writes: readonly Write[]): Promise<number> {
    const { copy } = this.#parts;
    const deadline = performance.now() + COMMIT_MS;
    for (let again = false; ; again = true) {
      const hindered = await this.#hindrance();
      // Of what was sent before and is in the stream all the same the copy knows by now.
      if (copy.latest(kinds) > basis) throw staleError(copy.latest(kinds));
      if (hindered !== undefined) {
        const known = again ? `; ${NOT_KNOWN}` : '';
        throw new BusError('cluster_unavailable', `Nothing can be changed in the cluster: ${hindered}${known}`);
      }
      const needed = this.#needed(writes);
      this.#awaited = copy.revision + needed.length;
      const chain = await this.#chain.send({
        id,
        behind: copy.revision,
        messages: needed.map(({ message }) => message),
        deadline,
        isContended: this.#isContended,
      });
      this.#awaited = 0;
      if (chain.failure === undefined) {
        await this.#reach(chain.last, deadline);
        if (!this.#isThere(id, chain.last, needed)) throw this.#lost(chain, basis, kinds);
        this.#count(needed);
        return chain.last;
      }
      if (!isOvertaken(chain.failure)) throw undone(chain);
      this.counters.overtaken += 1;
      this.#overtakenAt = performance.now();
      await this.#reach(Math.max(chain.last, lastSequenceOf(chain.failure) ?? chain.last + 1), deadline);
      // A part of it is made: what is left is decided anew.
      if (chain.made > 0) throw staleError(copy.latest(kinds));
      // Two nodes that write at once would else go on in step.
      await pause(Math.random() * 5, this.#stopped.signal);
    }
  }

  /**
   * Without removals of what is not there: up to the revision that the first message is to come behind the copy is what the stream has.
   * A new agent has no groups most times, and each message is sealed, kept and read by all nodes.
   */
  #needed(writes: readonly Write[]): readonly Write[] {
    const { copy } = this.#parts;
    const touched = new Set<string>();
    const needed = writes.filter(({ change }) => {
      const { kind, key, value } = change;
      const name = `${kind} ${key}`;
      if ((value ?? null) === null && !touched.has(name) && (copy.get(kind, key)?.value ?? null) === null) return false;
      touched.add(name);
      return true;
    });
    return needed.length > 0 ? needed : writes;
  }

  /** Whether the last message of a commit is where NATS has acknowledged it: servers may have lost it since, and others written there. */
  #isThere(id: string, revision: number, writes: readonly Write[]): boolean {
    const { copy } = this.#parts;
    const writer = copy.writerOf(revision);
    const last = writes.at(-1);
    if (writer !== undefined || last === undefined) return writer === id;
    // Of a record that was changed again at once the copy never sees this message.
    return (copy.get(last.change.kind, last.change.key)?.revision ?? 0) >= revision;
  }

  #count(writes: readonly Write[]): void {
    const isNothing = writes.every(({ change }) => change.kind === 'barrier');
    this.counters.held += isNothing ? 1 : 0;
    this.counters.commits += isNothing ? 0 : 1;
    this.counters.records += isNothing ? 0 : writes.length;
  }

  #lost({ last }: Chain, basis: number, kinds: readonly RecordKind[]): BusError {
    const latest = this.#parts.copy.latest(kinds);
    if (latest > basis) return staleError(latest);
    const reason = `NATS has lost what it had acknowledged as revision ${last} of the cluster`;
    return new BusError('cluster_unavailable', `${reason}; ${NOT_KNOWN}`);
  }

  get #isContended(): boolean {
    return this.#parts.contended() || performance.now() - this.#overtakenAt < CONTENDED_MS;
  }

  async #hindrance(): Promise<string | undefined> {
    const { link, hindrance } = this.#parts;
    while (!this.#stopped.signal.aborted && link.downForMs > 0 && link.downForMs < MENDING_MS) {
      await pause(RETRY_MS, this.#stopped.signal);
    }
    return hindrance();
  }

  /** Waits until the copy has a revision. */
  async #reach(revision: number, deadline: number): Promise<void> {
    const { copy } = this.#parts;
    this.known = Math.max(this.known, revision);
    while (copy.revision < revision) {
      const left = deadline - performance.now();
      if (left <= 0 || this.#stopped.signal.aborted) {
        throw new BusError('cluster_unavailable', `Revision ${revision} of the cluster does not come: ${NOT_KNOWN}`);
      }
      await copy.changed(left, this.#stopped.signal);
    }
  }
}

/** A new id of a commit. */
export function commitId(): string {
  return randomBytes(9).toString('base64url');
}

function undone({ made, failure }: Chain): BusError {
  const reason = describeError(failure);
  const isNothing = made === 0 && failure instanceof NotTaken && failure.first && isRefused(failure.cause);
  const known = isNothing ? 'nothing was made' : NOT_KNOWN;
  return new BusError('cluster_unavailable', `NATS did not take the change: ${reason}; ${known}`, { cause: failure });
}
