import { type PubAck, PubHeaders } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { pause } from '../../../lib/async/pause.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { NatsLink } from '../nats/nats-link.js';
import { isOvertaken, isRefused, lastSequenceOf } from '../nats/streams.js';
import type { RecordCopy } from './record-copy.js';
import type { RecordMessage, RecordMessages } from './record-messages.js';

/** One answer of JetStream, milliseconds; then it is asked again with the same ids, which it takes once. */
const ACK_MS = 3000;
const RETRY_MS = 200;
/** Messages on their way at once. */
const PIPELINE = 500;

export type RecordChainParts = {
  readonly link: Pick<NatsLink, 'session'>;
  readonly copy: Pick<RecordCopy, 'writerOf'>;
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

/** Of a message in the chain of a commit: which one it is, and the sequence that it is to come behind. */
type Place = { readonly id: string; readonly at: number; readonly behind: number };

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

/** Messages of a commit, each to come behind the one before it. */
export class RecordChain {
  readonly #parts: RecordChainParts;

  constructor(parts: RecordChainParts) {
    this.#parts = parts;
  }

  /** Sends the messages one behind the other, many at a time. */
  async send({ id, behind, messages, deadline, isContended }: ToSend): Promise<Chain> {
    // The first one alone where others write, too: when it is overtaken, all of them are.
    let most = isContended ? 1 : PIPELINE;
    let made = 0;
    while (made < messages.length) {
      const place = { id, at: made, behind: behind + made };
      const part = await this.#part(messages.slice(made, made + most), place, deadline);
      made += part.made;
      if (part.failure !== undefined) return { last: behind + made, made, failure: part.failure };
      most = PIPELINE;
    }
    return { last: behind + made, made };
  }

  /**
   * Sends some of a chain. The first and the last alone are answered, since each is taken behind the one before it: so all are there
   * with the last. @returns how many are made, not all of them where some were lost on the way and nobody has come between
   */
  async #part(part: readonly RecordMessage[], place: Place, deadline: number): Promise<Omit<Chain, 'last'>> {
    const sent = part.map((message, index) => {
      const own = { id: place.id, at: place.at + index, behind: place.behind + index };
      if (index === 0 || index === part.length - 1) return this.#send(message, own, deadline);
      this.#post(message, own);
      return undefined;
    });
    const [began, ended] = await Promise.allSettled([sent[0], sent.at(-1)]);
    if (began.status === 'rejected') return { made: 0, failure: began.reason };
    if (ended.status === 'fulfilled') return { made: part.length };
    const failure: unknown = ended.reason;
    if (!isOvertaken(failure)) return { made: 1, failure };
    const through = lastSequenceOf(failure) ?? place.behind + part.length - 1;
    await this.#parts.reach(through, deadline);
    const made = this.#countOwn(place.id, place.behind, through);
    return place.behind + made === through ? { made } : { made, failure };
  }

  /** How many revisions one behind the other are of a commit. */
  #countOwn(id: string, behind: number, through: number): number {
    let revision = behind;
    while (revision < through && this.#parts.copy.writerOf(revision + 1) === id) revision += 1;
    return revision - behind;
  }

  /** Sends a message that is not answered. One that is lost is missed by the next. */
  #post(message: RecordMessage, { id, at, behind }: Place): void {
    const { link, messages } = this.#parts;
    const head = headers();
    head.set(PubHeaders.MsgIdHdr, messageId(id, at, behind));
    head.set(PubHeaders.ExpectedLastSeqHdr, `${behind}`);
    head.set(PubHeaders.ExpectedLastMsgIdHdr, messageId(id, at - 1, behind - 1));
    try {
      link.session().nc.publish(message.subject, messages.sealed(message, behind + 1), { headers: head });
    } catch {
      // The connection was lost this moment.
    }
  }

  async #send(message: RecordMessage, { id, at, behind }: Place, deadline: number): Promise<PubAck> {
    const { link, messages } = this.#parts;
    const payload = messages.sealed(message, behind + 1);
    let first = true;
    for (;;) {
      try {
        const { js } = link.session();
        return await js.publish(message.subject, payload, {
          msgID: messageId(id, at, behind),
          timeout: ACK_MS,
          retries: 0,
          expect: {
            lastSequence: behind,
            ...(at === 0 ? {} : { lastMsgID: messageId(id, at - 1, behind - 1) }),
          },
        });
      } catch (error) {
        const over = performance.now() > deadline || this.#parts.signal.aborted;
        if (isOvertaken(error)) throw error;
        if (over || isRefused(error)) throw new NotTaken(error, first);
        first = false;
      }
      await pause(RETRY_MS, this.#parts.signal);
    }
  }
}

/** A commit that begins elsewhere, as it is written once more, has other ids. */
function messageId(id: string, at: number, behind: number): string {
  return `${id}.${behind - at}.${at}`;
}
