import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { pause } from '../../../lib/async/pause.js';
import { MAX_RECORD_BYTES } from '../../../lib/bus/contracts/clusterd.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { lastMessageStream } from '../nats/streams.js';
import { ChangeBatches } from './change-batches.js';
import type { RecordCopy } from './record-copy.js';
import { RecordHistory } from './record-history.js';
import type { RecordMessages } from './record-messages.js';

/** Messages that are asked for at once. */
const PULLED = 2000;
const RETRY_MS = 1000;
/** It is looked so often whether the stream has what this node has, milliseconds. */
const HISTORY_MS = 5000;
/** What a message was sent with, which begins with the id of its commit. */
const MESSAGE_ID = 'Nats-Msg-Id';
/** Behind the time of a stream that lacks what this node has of it. */
const LOST = ' (lost)';
const LOOK_MS = 500;
/** A copy that others are ahead of for so long is not served by its consumer any more, milliseconds. */
const BEHIND_MS = 2000;
/** How long the server answers one pull of messages, milliseconds. */
const PULL_MS = 15_000;
/** A consumer that is not heard for two of these is made anew: its server was lost, milliseconds. */
const HEARTBEAT_MS = 1000;
/** All records: a million agents take less than 1 GiB. */
const MAX_STREAM_BYTES = 2 * 1024 ** 3;
/** Room for the seal and the names beside a record's value. */
const OVERHEAD_BYTES = 8 * 1024;

export type RecordStreamParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly copy: RecordCopy;
  readonly messages: RecordMessages;
  readonly replicas: number;
  /** Last revision that this node has heard of, wherever. */
  readonly known: () => number;
  /** Revision that a commit of this node waits for. */
  readonly awaited: () => number;
  readonly logger: Logger;
};

/**
 * Follows the stream of records into this node's copy, from where the copy ends. The stream keeps only the last message of a
 * subject, so that one who was away gets each record as it is now, and no gap can be told from a record that changed again.
 */
export class RecordStream {
  readonly #parts: RecordStreamParts;
  readonly #history: RecordHistory;
  #historyAt = -Infinity;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  /** Ends the consumer of now. */
  #consuming = new AbortController();
  #taking: Promise<void> = Promise.resolve();
  #behind: { readonly revision: number; readonly since: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined = 'the records were not read yet';
  #said: string | undefined;
  /** Messages that are no record of this cluster: sealed with another key, say. */
  unreadable = 0;
  /** Transactions in which changes were taken over. */
  batches = 0;
  /** Consumers that were made anew because others were further. */
  restarts = 0;

  constructor(parts: RecordStreamParts) {
    this.#parts = parts;
    this.#history = new RecordHistory({ ...parts, monotonic: () => performance.now() });
  }

  /** Why the stream is not followed, or undefined. */
  get problem(): string | undefined {
    return this.#parts.link.problem ?? this.#problem;
  }

  start(): void {
    this.#running ??= this.#run();
    this.#timer = setInterval(() => {
      this.#lookBehind();
      void this.#lookBack();
    }, LOOK_MS);
    this.#parts.link.onMended(() => {
      this.#restart();
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#consuming.abort();
    clearInterval(this.#timer);
    await this.#running;
    await this.#taking;
  }

  /** Begins a new consumer at where the copy ends. */
  #restart(): void {
    this.#consuming.abort();
  }

  /** A consumer whose server was lost can stay silent for ever: where others are further for a while, there is a new one. */
  #lookBehind(): void {
    const { copy, known } = this.#parts;
    const { revision } = copy;
    if (known() <= revision) {
      this.#behind = undefined;
    } else if (this.#behind?.revision !== revision) {
      this.#behind = { revision, since: performance.now() };
    } else if (performance.now() - this.#behind.since > BEHIND_MS) {
      this.#behind = undefined;
      this.restarts += 1;
      this.#restart();
    }
  }

  /** Where the stream has lost something that this node has, it is not followed as if nothing were. */
  async #lookBack(): Promise<void> {
    const { link } = this.#parts;
    const now = performance.now();
    if (this.#problem !== undefined || !link.connected || now - this.#historyAt < HISTORY_MS) return;
    this.#historyAt = now;
    try {
      if ((await this.#history.look(link.session())) !== 'the same') this.#restart();
    } catch {
      // It cannot be known now.
    }
  }

  async #run(): Promise<void> {
    const { link } = this.#parts;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        if (link.connected) await this.#follow(link.session());
      } catch (error) {
        this.#failed(describeError(error));
      }
      await pause(RETRY_MS, signal);
    }
  }

  async #follow(session: NatsSession): Promise<void> {
    const { subjects, copy, replicas } = this.#parts;
    const { shared } = subjects.streams;
    const info = await lastMessageStream(session, shared, {
      replicas,
      maxMessageBytes: MAX_RECORD_BYTES + OVERHEAD_BYTES,
      maxBytes: MAX_STREAM_BYTES,
    });
    const { stream = info.created } = copy.state;
    // Not yet taken over: a batch of a consumer that was given up.
    await this.#taking;
    const history = stream === info.created ? await this.#history.look(session) : 'lost';
    if (history === 'in doubt') {
      throw new Error(
        `NATS does not have revision ${copy.revision}, which this node has from it: it is looked at again`,
      );
    }
    if (history === 'lost') {
      // It stays so, also when others have written past what was lost.
      if (stream === info.created) await copy.note({ stream: `${stream}${LOST}` });
      throw new Error(
        `the records of NATS (stream ${shared.name}, made ${info.created}) are others than those this node has (made ${stream}): ` +
          "see 'Backup' in docs/cluster.md",
      );
    }
    if (copy.state.stream === undefined) await copy.note({ stream });
    if (copy.revision >= info.state.last_seq) await this.#whole();
    await this.#consume(session, shared.name, info.state.last_seq);
  }

  async #consume({ js }: NatsSession, stream: string, wholeAt: number): Promise<void> {
    const { copy } = this.#parts;
    const consumer = await js.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: copy.revision + 1,
    });
    const messages = await consumer.consume({
      max_messages: PULLED,
      expires: PULL_MS,
      idle_heartbeat: HEARTBEAT_MS,
    });
    const consuming = new AbortController();
    this.#consuming = consuming;
    if (this.#stopped.signal.aborted) consuming.abort();
    let failure: unknown;
    const batches = new ChangeBatches<JsMsg>({
      take: (batch) => this.#takeInTurn(batch, wholeAt),
      awaited: this.#parts.awaited,
      failed: (error) => {
        failure = error;
        consuming.abort();
      },
    });
    try {
      await Promise.race([gather(messages, batches, consuming.signal), whenAborted(consuming.signal)]);
      if (failure !== undefined) throw failure;
    } finally {
      batches.end();
      consuming.abort();
      // It is not waited for: one whose server was lost may not end.
      messages.close().catch(() => {});
    }
  }

  /** One after the other, also where a consumer that is given up still has some. */
  async #takeInTurn(batch: readonly JsMsg[], wholeAt: number): Promise<void> {
    const turn = this.#taking.then(() => this.#take(batch));
    this.#taking = turn.catch(() => {});
    await turn;
    this.batches += 1;
    if (this.#parts.copy.revision >= wholeAt) await this.#whole();
  }

  async #take(batch: readonly JsMsg[]): Promise<void> {
    const { copy } = this.#parts;
    const changes = batch.flatMap((message) => this.#read(message));
    const through = batch.at(-1)?.seq ?? copy.revision;
    if (through <= copy.revision) return;
    for (const { seq, headers } of batch) copy.noteWriter(seq, headers?.get(MESSAGE_ID) ?? '');
    await copy.apply(
      changes.filter(({ revision }) => revision > copy.revision),
      through,
    );
  }

  #read(message: JsMsg): SharedRecord[] {
    const { messages, logger } = this.#parts;
    try {
      return [messages.read(message.subject, message.data, message.seq)];
    } catch (error) {
      // A node that has never had all records has another key than the others, most likely: what it has not read it must not
      // take for what is not there.
      if (!this.#parts.copy.state.whole) throw error;
      this.unreadable += 1;
      if (this.unreadable === 1) logger.error(`A record of the cluster cannot be read: ${describeError(error)}.`);
      return [];
    }
  }

  async #whole(): Promise<void> {
    const { copy, logger } = this.#parts;
    if (!copy.state.whole) await copy.note({ whole: true });
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#said = undefined;
    logger.info(`Records of the cluster are followed; the last one is ${copy.revision}.`);
  }

  #failed(problem: string): void {
    this.#problem = problem;
    if (this.#stopped.signal.aborted || this.#said === problem) return;
    this.#said = problem;
    this.#parts.logger.error(`Records of the cluster are not followed: ${problem}.`);
  }
}

async function gather(messages: ConsumerMessages, batches: ChangeBatches<JsMsg>, signal: AbortSignal): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return;
    await batches.add(message, message.info.pending === 0);
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
