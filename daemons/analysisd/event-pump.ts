import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { BusEvent, EventBatch } from '../../lib/bus/bus-event.js';
import { LogLimiter } from '../../lib/bus/log-limiter.js';
import { describeError } from '../../lib/daemon/describe-error.js';
import type { Logger } from '../../lib/daemon/logger.js';
import type { Engine } from '../../lib/engine/engine.js';
import { toByteString } from '../../lib/engine/byte-string.js';
import type { IncomingEvent } from '../../lib/engine/event.js';
import type { Outcome } from '../../lib/engine/outcome.js';
import { isKeepalive } from '../../lib/engine/alert-text.js';
import { componentOf } from './component.js';
import type { Counters } from './counters.js';
import type { EpsLimiter } from './eps-limiter.js';
import { IdempotencyMemory } from './idempotency.js';
import type { Outputs } from './outputs.js';

/** Requests are answered between slices of this many events, however large a batch is. */
const EVENTS_PER_TURN = 64;
/** A disk that takes nothing is tried again after this time; producers are held back meanwhile. */
const RETRY_MS = 1000;
/** Credits come back by the second. */
const CREDIT_WAIT_MS = 100;
/** A problem that stays is logged again after this time. */
const REPEAT_LOG_MS = 60_000;

export type EventPumpParts = {
  readonly engine: Engine;
  readonly outputs: Outputs;
  /** Small files that are written with the outputs: first-time-seen keys and the like. */
  readonly sideFiles: readonly { flush(): void }[];
  readonly counters: Counters;
  readonly logger: Logger;
  /** `<custom_alert_output>`, a byte string. */
  readonly customFormat: string | undefined;
  /** Wall clock, epoch milliseconds: for rotation and the EPS limit, the engine goes by the events' receive times. */
  readonly now: () => number;
  readonly epsLimiter: EpsLimiter | undefined;
};

/**
 * Takes batches of events through the engine and writes what comes of them. A batch is done, and acknowledged to its
 * producers, when its alerts are with the file system.
 */
export class EventPump {
  #engine: Engine;
  readonly #parts: EventPumpParts;
  readonly #idempotency = new IdempotencyMemory();
  readonly #failureLog: LogLimiter;
  #pending = 0;
  #stopping = false;
  #rotating = false;
  /** When the wait for the disk was logged last, by the monotonic clock; undefined while the disk takes everything. */
  #blockedLoggedAt: number | undefined;

  constructor(parts: EventPumpParts) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.#failureLog = new LogLimiter((message) => {
      parts.logger.error(message);
    });
  }

  /** Events taken and not yet written. */
  get pending(): number {
    return this.#pending;
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** Puts another engine in place, between two events: none is lost, none is seen twice. */
  swapEngine(engine: Engine): void {
    this.#engine = engine;
  }

  /** Resolves when everything of the batch is written; waits while the disk takes nothing. One batch at a time. */
  async take(batch: EventBatch): Promise<void> {
    const { counters } = this.#parts;
    this.#pending += batch.events.length;
    let sinceTurn = 0;
    for (const event of batch.events) {
      counters.eventsReceived += 1;
      counters.bytesReceived += event.message.length;
      if (this.#parts.epsLimiter !== undefined) await this.#credit(this.#parts.epsLimiter);
      this.#takeOne(event);
      this.#pending -= 1;
      sinceTurn += 1;
      if (sinceTurn >= EVENTS_PER_TURN) {
        sinceTurn = 0;
        await nextTurn();
      }
    }
    await this.flush();
  }

  /** Rotation; to be called each second. Waits like `take`; calls during such a wait do nothing. */
  async tick(): Promise<void> {
    if (this.#rotating) return;
    this.#rotating = true;
    try {
      await this.#untilWritten(() => {
        this.#parts.outputs.rotate(new Date(this.#parts.now()));
      });
    } finally {
      this.#rotating = false;
    }
  }

  /** Writes everything collected so far. */
  async flush(): Promise<void> {
    await this.#untilWritten(() => {
      this.#parts.outputs.flush();
      for (const file of this.#parts.sideFiles) file.flush();
    });
  }

  /** Ends a wait for the disk: what could not be written is then lost with the process, unacknowledged. */
  stop(): void {
    this.#stopping = true;
  }

  async #untilWritten(write: () => void): Promise<void> {
    const { logger } = this.#parts;
    for (;;) {
      try {
        write();
        if (this.#blockedLoggedAt !== undefined) logger.info('Alerts are being written again.');
        this.#blockedLoggedAt = undefined;
        return;
      } catch (error) {
        if (this.#stopping) throw error;
        const now = performance.now();
        if (this.#blockedLoggedAt === undefined || now - this.#blockedLoggedAt >= REPEAT_LOG_MS) {
          this.#blockedLoggedAt = now;
          logger.error(`Alerts cannot be written, events wait at their producers: ${describeError(error)}`);
        }
        await delay(RETRY_MS);
      }
    }
  }

  /** Waits for a credit of the EPS limit; producers are held back meanwhile. */
  async #credit(limiter: EpsLimiter): Promise<void> {
    while (!limiter.take(Math.floor(this.#parts.now() / 1000)) && !this.#stopping) await delay(CREDIT_WAIT_MS);
  }

  #takeOne(event: BusEvent): void {
    const { counters } = this.#parts;
    const component = componentOf(event.queue, event.location);
    if (
      event.idempotency !== undefined &&
      !this.#idempotency.take(event.idempotency.key, event.idempotency.index, event.receivedAt)
    ) {
      return;
    }
    const outcome = this.#engine.process(incomingOf(event));
    if (outcome.disposition === 'dropped') {
      counters.eventsDropped += 1;
      counters.dropped[component] += 1;
      return;
    }
    counters.decoded[component] += 1;
    counters.eventsProcessed += 1;
    try {
      this.#write(outcome);
    } catch (error) {
      // A defect of ours. Thrown on, it would have the whole batch sent again, its other alerts with it, for ever.
      counters.alertsFailed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      this.#failureLog.log(`The alert of an event from '${event.location}' could not be written: ${reason}`);
    }
  }

  #write(outcome: Outcome): void {
    const { outputs, counters, customFormat } = this.#parts;
    const engine = this.#engine;
    const { settings } = outputs;
    const { event } = outcome;
    const seconds = Math.floor(event.receivedAt / 1000);
    if (outcome.firewall) {
      outputs.append('firewall', engine.texts.firewall(event));
      counters.firewallWritten += 1;
    }
    for (const alert of [outcome.statistics, outcome.isAlert ? outcome.alert : undefined]) {
      if (alert === undefined) continue;
      const id = `${String(seconds)}.${String(outputs.alertOffset)}`;
      if (settings.alertsText) {
        const text =
          customFormat === undefined ? engine.alertText(alert, id) : engine.texts.custom(alert, id, customFormat);
        outputs.append('alertsText', text);
      }
      if (settings.alertsJson) outputs.append('alertsJson', `${engine.alertJson(alert, { id })}\n`);
      counters.alertsWritten += 1;
      if (alert === outcome.statistics) counters.statsWritten += 1;
    }
    if (outcome.disposition !== 'processed' || (!settings.archivesText && !settings.archivesJson)) return;
    if (isKeepalive(event)) return;
    if (settings.archivesText) {
      const line = engine.texts.archive(event);
      if (line !== undefined) outputs.append('archivesText', line);
    }
    if (settings.archivesJson) {
      const id = `${String(seconds)}.${String(outputs.alertOffset)}`;
      outputs.append('archivesJson', `${engine.alertJson(outcome.alert, { id, alwaysFullLog: true })}\n`);
    }
    counters.archivesWritten += 1;
  }
}

/** The event as the engine takes it: agents' locations get the form `[id] (name) ip->location` (decoding.md 3.1). */
function incomingOf(event: BusEvent): IncomingEvent {
  const { agent } = event;
  return {
    queue: event.queue,
    location:
      agent === undefined
        ? event.location
        : `[${agent.id}] (${toByteString(agent.name)}) ${toByteString(agent.ip)}->${event.location}`,
    message: event.message.toString('latin1'),
    receivedAt: event.receivedAt,
    ...(agent?.labels === undefined ? {} : { labels: toByteLabels(agent.labels) }),
  };
}

/** Labels as the engine takes them: the same map in the usual case that all of them are ASCII. */
function toByteLabels(labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const [name, value] of labels) {
    if (toByteString(name) === name && toByteString(value) === value) continue;
    return new Map([...labels].map(([key, text]) => [toByteString(key), toByteString(text)]));
  }
  return labels;
}
