import { PubHeaders } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { pause } from '../../../lib/async/pause.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { NatsLink } from '../nats/nats-link.js';
import { isInProcess, isOvertaken, isRefused, lastSequenceOf } from '../nats/streams.js';
import type { RecordCopy } from './record-copy.js';
import type { RecordMessage, RecordMessages } from './record-messages.js';

/** One answer of JetStream, milliseconds; then it is asked again with the same id, which it takes once. */
const ACK_MS = 3000;
const RETRY_MS = 200;
/** Messages on their way at once. */
const PIPELINE = 500;

export type RecordChainParts = {
  readonly link: Pick<NatsLink, 'session'>;
  readonly copy: Pick<RecordCopy, 'writerOf' | 'messageIdOf'>;
  readonly messages: Pick<RecordMessages, 'sealed'>;
  /** Waits until the copy has a revision. */
  readonly reach: (revision: number, deadline: number) => Promise<void>;
  /** Ends what waits. */
  readonly signal: AbortSignal;
};

export type ToSend = {
  /** Of the commit. */
  readonly id: string;
  /** Sequence that the first is to come behind. */
  readonly behind: number;
  readonly messages: readonly RecordMessage[];
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Whether others are likely to write at the same time. */
  readonly isContended: boolean;
};

/** Of messages in the chain of a commit. */
type Place = {
  /** Which of the commit the first of them is. */
  readonly at: number;
  /** Sequence that it is to come behind. */
  readonly behind: number;
  /** Under which id the one before it is stored; undefined for the first of the commit. */
  readonly before: string | undefined;
};
/** What became of some of them, and under which id the last that is made is stored, where that was answered. */
type Part = { readonly made: number; readonly id?: string | undefined; readonly failure?: unknown };
/** A message on its way: which one it is, under which id it is sent first, and what it is to come behind. */
type Own = { readonly at: number; readonly id: string; readonly behind: number; readonly before: string | undefined };

/** What became of messages that were sent in a chain: how many are in the stream, and what the first one met that is not. */
export type Chain = { readonly last: number; readonly made: number; readonly failure?: unknown };

/** A message that JetStream did not take, or of which that is not known. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';

  /** @param first whether it was sent once only: what was sent before may have been taken without an answer */
  constructor(
    override readonly cause: unknown,
    readonly first: boolean,
  ) {
    super(describeError(cause), { cause });
  }
}

/** NATS knows the id of a message, of which it is at work on another copy, or which it has refused. */
class NotStored extends Error {
  override readonly name = 'NotStored';
}

/** Messages of a commit, each to come behind the one before it. */
export class RecordChain {
  readonly #parts: RecordChainParts;

  constructor(parts: RecordChainParts) {
    this.#parts = parts;
  }

  /** Sends the messages one behind the other, many at a time. */
  async send({ id, behind, messages, deadline, isContended }: ToSend): Promise<Chain> {
    const ids = new MessageIds(id, behind);
    // The first one alone where others write, too: when it is overtaken, all of them are.
    let most = isContended ? 1 : PIPELINE;
    let made = 0;
    let before: string | undefined;
    while (made < messages.length) {
      const place = { at: made, behind: behind + made, before };
      const part = await this.#part(messages.slice(made, made + most), place, ids, deadline);
      made += part.made;
      if (part.failure !== undefined) return { last: behind + made, made, failure: part.failure };
      before = part.id ?? this.#parts.copy.messageIdOf(behind + made);
      most = PIPELINE;
    }
    return { last: behind + made, made };
  }

  /**
   * Sends some of a chain. The first and the last alone are answered, since each is taken behind the one before it: so all are there
   * with the last. @returns how many are made, not all of them where some were lost on the way and nobody has come between; at least
   * one without a failure
   */
  async #part(
    part: readonly RecordMessage[],
    { at, behind, before }: Place,
    ids: MessageIds,
    deadline: number,
  ): Promise<Part> {
    // What was refused keeps its id in NATS for a while as if it were stored: what is sent anew has others.
    const attempt = ids.attempt();
    const sent = part.map((message, index) => {
      const own = {
        at: at + index,
        id: ids.of(at + index, attempt),
        behind: behind + index,
        before: index === 0 ? before : ids.of(at + index - 1, attempt),
      };
      if (index === 0 || index === part.length - 1) return this.#send(message, own, ids, deadline);
      this.#post(message, own);
      return undefined;
    });
    const [began, ended] = await Promise.allSettled([sent[0], sent.at(-1)]);
    const isBegun = began.status === 'fulfilled';
    if (isBegun && ended.status === 'fulfilled') return { made: part.length, id: ended.value };
    const failure: unknown = isBegun ? (ended as PromiseRejectedResult).reason : began.reason;
    if (!isOvertaken(failure)) return { made: isBegun ? 1 : 0, failure };
    // The last may have been refused before the first, which was sent again, was there; and either for what it was itself at first.
    const there = isBegun ? Math.max(1, part.length - 1) : 1;
    const through = Math.max(behind + (isBegun ? 1 : 0), lastSequenceOf(failure) ?? behind + there);
    await this.#parts.reach(through, deadline);
    const made = Math.min(part.length, this.#countOwn(ids.commit, behind, through));
    const isUnbroken = made === part.length || behind + made === through;
    return made > 0 && isUnbroken ? { made } : { made, failure };
  }

  /** How many revisions one behind the other are of a commit. */
  #countOwn(id: string, behind: number, through: number): number {
    let revision = behind;
    while (revision < through && this.#parts.copy.writerOf(revision + 1) === id) revision += 1;
    return revision - behind;
  }

  /** Sends a message that is not answered. One that is lost is missed by the next. */
  #post(message: RecordMessage, { id, behind, before }: Own): void {
    const { link, messages } = this.#parts;
    const head = headers();
    head.set(PubHeaders.MsgIdHdr, id);
    head.set(PubHeaders.ExpectedLastSeqHdr, `${behind}`);
    if (before !== undefined) head.set(PubHeaders.ExpectedLastMsgIdHdr, before);
    try {
      link.session().nc.publish(message.subject, messages.sealed(message, behind + 1), { headers: head });
    } catch {
      // The connection was lost this moment.
    }
  }

  /** @returns the id under which it is stored @throws NotTaken; JetStreamApiError when it was overtaken, by itself perhaps */
  async #send(message: RecordMessage, own: Own, ids: MessageIds, deadline: number): Promise<string> {
    const { link, messages } = this.#parts;
    const { behind, before } = own;
    const payload = messages.sealed(message, behind + 1);
    let msgID = own.id;
    let first = true;
    for (;;) {
      let problem: unknown;
      try {
        const { js } = link.session();
        const { seq } = await js.publish(message.subject, payload, {
          msgID,
          timeout: ACK_MS,
          retries: 0,
          expect: { lastSequence: behind, ...(before === undefined ? {} : { lastMsgID: before }) },
        });
        if (seq === behind + 1) return msgID;
        problem = new NotStored(`NATS knows its id and does not have it at sequence ${behind + 1}, but says ${seq}`);
      } catch (error) {
        if (isOvertaken(error)) throw error;
        problem = error;
      }
      const isIdTaken = problem instanceof NotStored || isInProcess(problem);
      const over = performance.now() > deadline || this.#parts.signal.aborted;
      if (over || (!isIdTaken && isRefused(problem))) throw new NotTaken(problem, first);
      first = false;
      if (isIdTaken) msgID = ids.of(own.at, ids.attempt());
      await pause(RETRY_MS, this.#parts.signal);
    }
  }
}

/** Ids of the messages of a commit. One that begins elsewhere, as it is written once more, has others. */
class MessageIds {
  #attempts = 0;

  constructor(
    readonly commit: string,
    private readonly begin: number,
  ) {}

  /** Another one than all before. */
  attempt(): number {
    this.#attempts += 1;
    return this.#attempts;
  }

  of(at: number, attempt: number): string {
    return `${this.commit}.${this.begin}.${at}.${attempt}`;
  }
}
