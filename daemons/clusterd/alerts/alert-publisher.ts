import { pause } from '../../../lib/async/pause.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AlertFeed, StreamedAlert } from '../../../lib/output/alert-feed.js';
import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { isInProcess, isOvertaken } from '../nats/streams.js';
import type { AlertMessages } from './alert-messages.js';
import { type AlertLimits, alertStream, hasRoom } from './alert-stream.js';

/** A message has so many alerts or bytes of them at most, or one alert: an output that fails may send them again. */
const MAX_ALERTS = 200;
const MAX_BYTES = 128 * 1024;
/** One that does not fit into a message although it is compressed is passed over. */
const MAX_MESSAGE_BYTES = 3 * 1024 * 1024;
const ACK_MS = 5000;
const RETRY_MS = 1000;
/** How often it is looked whether outputs have taken what is to be dropped, milliseconds. */
const ROOM_MS = 2000;
/** And after how much of the stream's bytes: the room that is left is for several nodes. */
const ROOM_PART = 0.05;
/** How often the position is kept here as well, milliseconds. */
const NOTE_MS = 1000;

export type AlertPublisherParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly messages: AlertMessages;
  readonly feed: AlertFeed;
  readonly node: string;
  readonly instance: string;
  /** Whether this home is the node of its name: another one publishes nothing. */
  readonly joined: () => boolean;
  /** The position as it was kept here, for a stream that has no alerts of this node any more; undefined: this node begins. */
  readonly kept: () => RecordPosition | undefined;
  readonly keep: (position: RecordPosition) => Promise<void>;
  readonly limits: AlertLimits;
  readonly logger: Logger;
};

/** How far this node's alerts are in the stream: by its own last message there. */
type Place = {
  sequence: number;
  position: RecordPosition;
  /** Behind the alerts of that message; undefined: this node begins, and is not known to have had any before. */
  start: RecordPosition | undefined;
};

/**
 * Brings the alerts of this node into the stream of all nodes, each once and in order. How far it is stands in its last message there,
 * and the next one is taken only behind that: whatever is killed, and whichever answer is lost, none is missing and none comes twice.
 */
export class AlertPublisher {
  readonly counters = { messages: 0, alerts: 0, bytes: 0, tooLong: 0 };
  readonly #parts: AlertPublisherParts;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  /** Undefined: it is to be looked up. */
  #place: Place | undefined;
  /** Behind what NATS has acknowledged. */
  #acknowledged: RecordPosition | undefined;
  /** How often it took a message for one that it has. */
  #taken = 0;
  #said: string | undefined;
  #roomAt = -Infinity;
  /** Bytes that were published since. */
  #bytesSince = 0;
  #notedAt = -Infinity;

  constructor(parts: AlertPublisherParts) {
    this.#parts = parts;
  }

  /** Alerts up to here are in the stream, as far as it is known here. */
  get position(): RecordPosition | undefined {
    return this.#place?.position ?? this.#parts.kept();
  }

  /** Alerts that wait, in bytes of their files. */
  get waitingBytes(): number {
    const { position } = this;
    return position === undefined ? 0 : this.#parts.feed.bytesAfter(position);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    if (this.#place !== undefined) await this.#parts.keep(this.#place.position).catch(() => {});
  }

  async #run(): Promise<void> {
    const { link, joined } = this.#parts;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        if (link.connected && joined()) {
          await this.#round(link.session());
          continue;
        }
      } catch (error) {
        this.#place = undefined;
        if (!isOvertaken(error)) this.#failed(error);
      }
      await pause(RETRY_MS, signal);
    }
  }

  async #round(session: NatsSession): Promise<void> {
    const { feed } = this.#parts;
    const { signal } = this.#stopped;
    this.#place ??= await this.#look(session);
    const place = this.#place;
    const mark = feed.mark();
    const { alerts, next } = await feed.read(place.position);
    for (const batch of batchesOf(alerts)) {
      if (signal.aborted) return;
      await this.#untilRoom(session);
      await this.#publish(session, place, batch);
    }
    if (alerts.length > 0) return;
    const moved = next.file !== place.position.file;
    place.position = next;
    if (!moved) await feed.changed(mark, signal);
  }

  /** Where the stream says that this node is; a node that is new begins with what is alerted from now on. */
  async #look(session: NatsSession): Promise<Place> {
    const { subjects, messages, node, instance, kept, keep, feed, limits } = this.#parts;
    const { alerts } = subjects.streams;
    const subject = messages.subject(node);
    await alertStream(session, alerts, limits);
    const last = await session.jsm.streams.getMessage(alerts.name, { last_by_subj: subject });
    const said = last === null ? undefined : await messages.read(subject, last.data);
    const own = said?.instance === instance ? said.position : undefined;
    const here = this.#acknowledged ?? kept();
    const position = here === undefined ? await feed.end() : (own ?? here);
    if (own !== undefined && here?.file === own.file && here.offset > own.offset) {
      this.#parts.logger.warn(
        `NATS has lost alerts of this node that it had acknowledged: those of '${own.file}' from byte ${String(own.offset)} on are brought into the stream again; an output that had them has them twice.`,
      );
    }
    await keep(position);
    this.#acknowledged = undefined;
    return { sequence: last?.seq ?? 0, position, start: here === undefined ? undefined : position };
  }

  async #publish({ js }: NatsSession, place: Place, batch: readonly StreamedAlert[]): Promise<void> {
    const { messages, node, instance, logger } = this.#parts;
    const position = batch.at(-1)?.end ?? place.position;
    const alerts = batch.map(({ text }) => text);
    const start = place.start === undefined ? {} : { start: place.start };
    const payload = await messages.write({ node, instance, ...start, position, alerts });
    if (payload.length > MAX_MESSAGE_BYTES) {
      this.counters.tooLong += batch.length;
      const where = `before byte ${String(position.offset)} of '${position.file}'`;
      logger.error(`An alert ${where} is too long for the stream of the cluster and is not in it.`);
      place.position = position;
      return;
    }
    const sent = js.publish(messages.subject(node), payload, {
      // What is sent again while NATS is still at work on it is answered and not written, so that nothing has to be refused.
      msgID: `${instance}:${position.file}:${String(position.offset)}:${String(this.#taken)}`,
      timeout: ACK_MS,
      retries: 0,
      expect: { lastSubjectSequence: place.sequence },
    });
    const ack = await sent.catch((error: unknown) => {
      if (isInProcess(error)) return undefined;
      throw error;
    });
    if (ack === undefined || ack.duplicate) {
      // NATS knows its id, which says nothing of whether it is stored: what is there is looked up, and it gets another id.
      this.#taken += 1;
      throw new Error('NATS is at work on a message that was sent to it before');
    }
    place.sequence = ack.seq;
    place.position = position;
    place.start = position;
    this.#acknowledged = position;
    this.counters.messages += 1;
    this.counters.alerts += batch.length;
    this.counters.bytes += payload.length;
    this.#bytesSince += payload.length;
    this.#mended();
    if (performance.now() - this.#notedAt < NOTE_MS) return;
    this.#notedAt = performance.now();
    await this.#parts.keep(position);
  }

  async #untilRoom(session: NatsSession): Promise<void> {
    const { signal } = this.#stopped;
    const { subjects, limits } = this.#parts;
    const isDue = () => performance.now() - this.#roomAt > ROOM_MS || this.#bytesSince > limits.bytes * ROOM_PART;
    while (!signal.aborted && isDue()) {
      if (await hasRoom(session, subjects.streams.alerts)) {
        this.#roomAt = performance.now();
        this.#bytesSince = 0;
        return;
      }
      this.#failed(new Error('an output has not taken what would be dropped for them'));
      await pause(ROOM_MS, signal);
    }
  }

  #failed(error: unknown): void {
    const problem = describeError(error);
    if (this.#said === problem || this.#stopped.signal.aborted) return;
    this.#said = problem;
    this.#parts.logger.warn(`Alerts of this node wait to come into the stream of the cluster: ${problem}.`);
  }

  #mended(): void {
    if (this.#said !== undefined) this.#parts.logger.info('Alerts of this node come into the stream of the cluster.');
    this.#said = undefined;
  }
}

function* batchesOf(alerts: readonly StreamedAlert[]): Generator<readonly StreamedAlert[]> {
  let batch: StreamedAlert[] = [];
  let bytes = 0;
  for (const alert of alerts) {
    if (batch.length > 0 && (batch.length >= MAX_ALERTS || bytes + alert.text.length > MAX_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(alert);
    bytes += alert.text.length;
  }
  if (batch.length > 0) yield batch;
}
