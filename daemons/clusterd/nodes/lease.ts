import * as z from 'zod';
import { pause } from '../../../lib/async/pause.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';
import { isOvertaken, lastMessageStream } from '../nats/streams.js';

/** How often the holder renews, and others look, milliseconds. */
const ROUND_MS = 1500;
/** How long the holder holds it after it began to renew it. */
const HELD_MS = 6000;
/** Others take it when it was not renewed for so long since they saw it: longer than it is held, whatever the clocks say. */
const EXPIRED_MS = 9000;
const ACK_MS = 2000;
const MAX_LEASE_BYTES = 4096;
/** The stream has one message, and none of another subject: nobody fills it. */
const MAX_STREAM_BYTES = 1024 ** 2;

const record = z.object({ node: z.string(), instance: z.string(), released: z.boolean() });
type LeaseRecord = z.output<typeof record>;

export type LeaseParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  readonly replicas: number;
  readonly self: { readonly node: string; readonly instance: string };
  /** Whether this node may hold it: one that is still joining does not. */
  readonly eligible: () => boolean;
  readonly logger: Logger;
  /** Milliseconds, monotonic: it goes on while a process stands still. */
  readonly now?: () => number;
};

export type LeaseCheck = { readonly held: boolean; readonly term: number; readonly leftMs: number };

/**
 * The lease of jobs that one node does: a message that its holder renews, each time behind its own last one, so that two never
 * hold it at once. No clock is compared with another's: the holder counts from when it began to renew, the others from when they saw it.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #now: () => number;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  /** Sequence of this node's last renewal, while it holds the lease. */
  #own: number | undefined;
  #term = 0;
  #heldUntil = 0;
  #seen: { readonly sequence: number; readonly at: number; readonly lease: LeaseRecord | undefined } | undefined;
  #said: string | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Gives it up, so that another takes it at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined || !this.#parts.link.connected) return;
    await this.#write(this.#parts.link.session(), own, true).catch(() => {});
  }

  check(): LeaseCheck {
    const leftMs = this.#own === undefined ? 0 : Math.max(0, Math.floor(this.#heldUntil - this.#now()));
    return { held: leftMs > 0, term: this.#term, leftMs };
  }

  /** Who holds it, as far as this node knows. */
  get holder(): string | undefined {
    if (this.check().held) return this.#parts.self.node;
    const { lease, at = 0 } = this.#seen ?? {};
    if (lease === undefined || lease.released || this.#isOwn(lease) || this.#now() - at > EXPIRED_MS) return undefined;
    return lease.node === '' ? undefined : lease.node;
  }

  async #run(): Promise<void> {
    const { link, logger } = this.#parts;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        if (link.connected) await this.#round(link.session());
        this.#said = undefined;
      } catch (error) {
        const problem = describeError(error);
        if (this.#said !== problem && !signal.aborted) logger.debug(`The lease of the cluster: ${problem}.`);
        this.#said = problem;
      }
      if (this.#own !== undefined && !this.check().held) this.#lost('it could not be renewed in time');
      await pause(ROUND_MS, signal);
    }
  }

  async #round(session: NatsSession): Promise<void> {
    const { eligible, logger } = this.#parts;
    if (this.#own !== undefined && !eligible()) {
      await this.#write(session, this.#own, true).catch(() => {});
      this.#lost('it is no node of the cluster any more');
      return;
    }
    if (this.#own !== undefined) {
      await this.#renew(session, this.#own);
      return;
    }
    await this.#look(session);
    if (!eligible() || this.#seen === undefined) return;
    const { sequence, at, lease } = this.#seen;
    const free = lease === undefined || lease.released || this.#isOwn(lease) || this.#now() - at > EXPIRED_MS;
    if (!free) return;
    const begun = this.#now();
    try {
      this.#own = await this.#write(session, sequence, false);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return;
    }
    this.#term = this.#own;
    this.#heldUntil = begun + HELD_MS;
    logger.info('This node holds the lease of the cluster: it does what only one node does.');
  }

  async #renew(session: NatsSession, own: number): Promise<void> {
    const begun = this.#now();
    try {
      this.#own = await this.#write(session, own, false);
      this.#heldUntil = begun + HELD_MS;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      // Another one has it, or an answer to this node's own renewal was lost: either way it is looked at anew.
      this.#lost('another message came before');
    }
  }

  #lost(reason: string): void {
    this.#own = undefined;
    this.#heldUntil = 0;
    this.#seen = undefined;
    this.#parts.logger.info(`This node does not hold the lease of the cluster any more: ${reason}.`);
  }

  async #look(session: NatsSession): Promise<void> {
    const { subjects, replicas } = this.#parts;
    const { lease } = subjects.streams;
    if (this.#seen === undefined) {
      await lastMessageStream(session, lease, {
        replicas,
        maxMessageBytes: MAX_LEASE_BYTES,
        maxBytes: MAX_STREAM_BYTES,
      });
    }
    const message = await session.jsm.streams.getMessage(lease.name, { last_by_subj: this.#subject() });
    if (message === null) {
      this.#seen ??= { sequence: 0, at: this.#now(), lease: undefined };
      return;
    }
    if (message.seq === this.#seen?.sequence) return;
    this.#seen = { sequence: message.seq, at: this.#now(), lease: this.#read(message.data) };
  }

  /** What cannot be read, which a stolen login may have written, runs out like the lease of a node that is lost. */
  #read(data: Uint8Array): LeaseRecord {
    try {
      return unpack(this.#parts.seal.open(data, this.#subject()), record);
    } catch (error) {
      this.#parts.logger.error(`The lease of the cluster cannot be read: ${describeError(error)}.`);
      return { node: '', instance: '', released: false };
    }
  }

  async #write({ js }: NatsSession, behind: number, released: boolean): Promise<number> {
    const { seal, self } = this.#parts;
    const subject = this.#subject();
    const payload = seal.seal(pack({ ...self, released } satisfies LeaseRecord), subject);
    const ack = await js.publish(subject, payload, {
      timeout: ACK_MS,
      retries: 0,
      expect: { lastSubjectSequence: behind },
    });
    return ack.seq;
  }

  #isOwn({ instance }: LeaseRecord): boolean {
    return instance === this.#parts.self.instance;
  }

  #subject(): string {
    return this.#parts.subjects.lease;
  }
}
