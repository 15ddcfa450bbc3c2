import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PubAck } from '@nats-io/jetstream';
import { pause } from '../../../lib/async/pause.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { MAX_RECORD_BYTES, type RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import { RECORD_SCHEMAS } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { NatsLink } from '../nats/nats-link.js';
import { isOvertaken, isRefused, lastSequenceOf } from '../nats/streams.js';
import type { RecordCopy } from './record-copy.js';
import type { RecordMessage, RecordMessages } from './record-messages.js';

/** After so long a commit is given up, milliseconds. */
const COMMIT_MS = 25_000;
/** One answer of JetStream, milliseconds; then it is asked again with the same ids, which it takes once. */
const ACK_MS = 3000;
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
/** Commits that wait: stops a daemon that decides without end from filling memory. */
const MAX_WAITING = 1000;
/** Messages on their way at once. */
const PIPELINE = 500;

export type RecordCommitsParts = {
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

/** A change that was checked, and how it is sent. */
type Write = { readonly change: RecordChange; readonly message: RecordMessage };

/** What became of messages that were sent in a chain: how many are in the stream, and what the first one met that is not. */
type Chain = { readonly last: number; readonly made: number; readonly failure?: unknown };

/** What is said at the end of a failure after which a change may have been made. */
export const NOT_KNOWN = 'it is not known what was made';

/** A message that JetStream did not take, or of which that is not known. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';

  /** @param first whether it was sent once only: what was sent before may have been taken without an answer */
  constructor(
    override readonly cause: unknown,
    readonly first: boolean,
  ) {
    super(describeError(cause), { cause });
  }
}

/**
 * Writes changes of records: each message names the sequence that it is to come behind, the first one that of this node's
 * copy, each further one its predecessor. So the changes of a commit come one behind the other or not at all, and none where
 * somebody else has written meanwhile; then the copy catches up, and they are written again if nothing of their kinds changed.
 */
export class RecordCommits {
  readonly #parts: RecordCommitsParts;
  readonly #stopped = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** Highest revision that a message was acknowledged with, or refused for. */
  known = 0;
  /** Revision of the last message of the commit under way, if nobody comes between. */
  #awaited = 0;
  #overtakenAt = -Infinity;
  readonly counters = { commits: 0, records: 0, overtaken: 0, stale: 0, failed: 0 };

  constructor(parts: RecordCommitsParts) {
    this.#parts = parts;
  }

  /** Revision that a commit waits for the copy to have; one that it has already where none waits. */
  get awaited(): number {
    return Math.max(this.#awaited, this.known);
  }

  stop(): Promise<unknown> {
    this.#stopped.abort();
    return this.#last;
  }

  /** Another node was quicker with what this one had decided: it leaves room when it hears of that. */
  overtook(): void {
    this.counters.stale += 1;
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
   * @param withinMs another node has decided it, and waits so long: then it counts the outcome, and leaves others time
   * @throws BusError `stale`, `too_large`, `bad_record`, `cluster_unavailable`, `busy`
   */
  async commit(commit: Commit, withinMs?: number): Promise<number> {
    const began = performance.now();
    const forOther = withinMs !== undefined;
    if (this.#waiting >= MAX_WAITING) throw new BusError('busy', 'too many changes of the cluster wait');
    const writes = commit.changes.map((change) => ({ change, message: this.#message(change) }));
    this.#waiting += 1;
    const turn = this.#last.then(() => {
      // Who asked has given it up, and may decide something else by now.
      if (forOther && performance.now() - began > withinMs) throw new BusError('busy', 'nobody waits for it any more');
      return this.#write(commit, writes);
    });
    this.#last = turn.catch(() => {});
    try {
      const revision = await turn;
      if (!forOther) await this.leaveOthers(performance.now() - began);
      return revision;
    } catch (error) {
      const isStale = error instanceof BusError && error.code === 'stale';
      if (!isStale) this.counters.failed += 1;
      else if (!forOther) this.counters.stale += 1;
      throw error;
    } finally {
      this.#waiting -= 1;
    }
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

  async #write({ id = commitId(), basis, kinds }: Commit, writes: readonly Write[]): Promise<number> {
    const { copy } = this.#parts;
    const deadline = performance.now() + COMMIT_MS;
    for (let again = false; ; again = true) {
      const hindered = await this.#hindrance();
      // Of what was sent before and is in the stream all the same the copy knows by now.
      if (copy.latest(kinds) > basis) throw stale(copy.latest(kinds));
      if (hindered !== undefined) {
        const known = again ? `; ${NOT_KNOWN}` : '';
        throw new BusError('cluster_unavailable', `Nothing can be changed in the cluster: ${hindered}${known}`);
      }
      const messages = this.#needed(writes);
      this.#awaited = copy.revision + messages.length;
      const chain = await this.#chain(id, copy.revision, messages, deadline);
      this.#awaited = 0;
      if (chain.failure === undefined) {
        await this.#reach(chain.last, deadline);
        this.counters.commits += 1;
        this.counters.records += messages.length;
        return chain.last;
      }
      if (!isOvertaken(chain.failure)) throw undone(chain);
      this.counters.overtaken += 1;
      this.#overtakenAt = performance.now();
      await this.#reach(Math.max(chain.last, lastSequenceOf(chain.failure) ?? chain.last + 1), deadline);
      // A part of it is made: what is left is decided anew.
      if (chain.made > 0) throw stale(chain.last);
      // Two nodes that write at once would else go on in step.
      await pause(Math.random() * 5, this.#stopped.signal);
    }
  }

  /**
   * Without removals of what is not there: up to the revision that the first message is to come behind the copy is what the stream has.
   * A new agent has no groups most times, and each message is sealed, kept and read by all nodes.
   */
  #needed(writes: readonly Write[]): readonly RecordMessage[] {
    const { copy } = this.#parts;
    const touched = new Set<string>();
    const needed = writes.filter(({ change: { kind, key, value } }) => {
      const name = `${kind} ${key}`;
      if ((value ?? null) === null && !touched.has(name) && (copy.get(kind, key)?.value ?? null) === null) return false;
      touched.add(name);
      return true;
    });
    return (needed.length > 0 ? needed : writes).map(({ message }) => message);
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

  /** Sends the messages one behind the other, many at a time. */
  async #chain(id: string, behind: number, messages: readonly RecordMessage[], deadline: number): Promise<Chain> {
    let last = behind;
    // The first one alone where others write, too: when it is overtaken, all of them are.
    let most = this.#isContended ? 1 : PIPELINE;
    for (let at = 0; at < messages.length;) {
      const part = messages.slice(at, at + most);
      const first = last;
      const sent = await Promise.allSettled(
        part.map((message, index) => this.#send(message, id, at + index, first + index, deadline)),
      );
      const failed = sent.findIndex(({ status }) => status === 'rejected');
      const done = failed < 0 ? part.length : failed;
      last = first + done;
      const outcome = sent[failed];
      if (outcome?.status === 'rejected') return { last, made: at + done, failure: outcome.reason as unknown };
      at += part.length;
      most = PIPELINE;
    }
    return { last, made: messages.length };
  }

  async #send(message: RecordMessage, id: string, index: number, behind: number, deadline: number): Promise<PubAck> {
    const { link, messages } = this.#parts;
    const payload = messages.sealed(message, behind + 1);
    let first = true;
    for (;;) {
      try {
        const { js } = link.session();
        return await js.publish(message.subject, payload, {
          msgID: `${id}.${behind - index}.${index}`,
          timeout: ACK_MS,
          retries: 0,
          expect: {
            lastSequence: behind,
            ...(index === 0 ? {} : { lastMsgID: `${id}.${behind - index}.${index - 1}` }),
          },
        });
      } catch (error) {
        const over = performance.now() > deadline || this.#stopped.signal.aborted;
        if (isOvertaken(error)) throw error;
        if (over || isRefused(error)) throw new NotTaken(error, first);
        first = false;
      }
      await pause(RETRY_MS, this.#stopped.signal);
    }
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

function stale(revision: number): BusError {
  return new BusError('stale', `something of the same kinds was changed with revision ${revision}`);
}

function undone({ made, failure }: Chain): BusError {
  const reason = describeError(failure);
  const isNothing = made === 0 && failure instanceof NotTaken && failure.first && isRefused(failure.cause);
  const known = isNothing ? 'nothing was made' : NOT_KNOWN;
  return new BusError('cluster_unavailable', `NATS did not take the change: ${reason}; ${known}`, { cause: failure });
}
