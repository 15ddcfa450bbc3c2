import { buildEventPayload } from '../../lib/agentlink/event-payload.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import type { Logger } from '../../lib/log/logger.js';
import { bufferNotice } from './buffer-notice.js';
import { BufferSender } from './buffer-sender.js';
import { EventBuffer } from './event-buffer.js';

/** Of `<client_buffer>`; a reload may change it. */
export type OutletSettings = {
  readonly disabled: boolean;
  /** Events that wait at most. */
  readonly size: number;
  /** Events that leave the buffer in a second. */
  readonly perSecond: number;
};

export type OutletParts = {
  /** Percent: `agent.warn_level`, `agent.normal_level`. */
  readonly warn: number;
  readonly normal: number;
  /** Milliseconds: `agent.tolerance`. */
  readonly tolerance: number;
  /** Resolves when the event is on its way; it waits for a connection. */
  readonly send: (event: Buffer) => Promise<void>;
  /** Sends what the agent has to say of itself, past the buffer. */
  readonly notify: (event: Buffer) => void;
  readonly logger: Logger;
};

/**
 * The way of events to the manager: through the buffer and at its pace, or at once where it is disabled. Both can be
 * changed while events wait: a buffer that is switched off is sent first, so that all leave in their order
 * (agents-and-groups.md 5.3, 6.9).
 */
export class EventOutlet {
  readonly #parts: OutletParts;
  readonly #buffer: EventBuffer;
  readonly #sender: BufferSender;
  #settings: OutletSettings;
  /** Those who wait until the buffer is empty. */
  #waiting: (() => void)[] = [];
  /** It was switched off and is not empty yet. */
  #freeing = false;
  #running: Promise<void> | undefined;
  #ended = false;

  constructor(parts: OutletParts, settings: OutletSettings) {
    const { warn, normal, tolerance, send, notify, logger } = parts;
    this.#parts = parts;
    this.#settings = settings;
    this.#buffer = new EventBuffer({ size: settings.size, warn, normal, tolerance }, (level) => {
      const notice = bufferNotice(level, warn, normal);
      logger[notice.severity](notice.log);
      notify(buildEventPayload(QUEUE_IDS.log, 'wazuh-agent', notice.event));
    });
    this.#sender = new BufferSender(this.#buffer, send, settings.disabled ? Infinity : settings.perSecond, logger, () =>
      this.#emptied(),
    );
  }

  /** Begins to send what waits. */
  start(): void {
    this.#running = this.#sender.run().finally(() => {
      this.#ended = true;
      this.#emptied();
    });
  }

  /** Events that wait; undefined where there is no buffer. */
  get waiting(): number | undefined {
    return this.#settings.disabled && this.#buffer.length === 0 ? undefined : this.#buffer.length;
  }

  /** Events that found no room. */
  get dropped(): number {
    return this.#buffer.dropped;
  }

  /** For `stats`. */
  get state(): Record<string, unknown> {
    const { disabled, size } = this.#settings;
    return { enabled: !disabled, level: this.#buffer.level, size: disabled ? 0 : size };
  }

  /** Takes an event: resolves at once with a buffer, else when it is on its way. @throws Error when the agent stops */
  async take(event: Buffer): Promise<void> {
    while (this.#settings.disabled && this.#buffer.length > 0 && !this.#ended) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#settings.disabled) {
      await this.#parts.send(event);
    } else {
      this.#buffer.append(event, performance.now());
      this.#sender.wake();
    }
  }

  /** Goes on with other settings. */
  apply(next: OutletSettings): void {
    const wasDisabled = this.#settings.disabled;
    this.#settings = next;
    this.#sender.pace(next.disabled ? Infinity : next.perSecond);
    if (next.disabled) {
      if (!wasDisabled) this.#freeing = true;
      if (this.#buffer.length === 0) this.#emptied();
    } else {
      this.#freeing = false;
      this.#resize(next.size, wasDisabled && this.#buffer.length === 0);
      // Where the buffer was being emptied, those who wait for its end use it again.
      this.#wake();
    }
  }

  /** @param quietly where there was no buffer a moment ago */
  #resize(size: number, quietly: boolean): void {
    const { logger } = this.#parts;
    const old = this.#buffer.size;
    if (size === old) return;
    const waiting = this.#buffer.length;
    const dropped = this.#buffer.resize(size);
    if (quietly) return;
    if (size < old) {
      logger.warn(`Shrinking client buffer from ${old} to ${size} (messages: ${waiting}).`);
      if (dropped > 0) logger.warn(`The ${dropped} newest messages were dropped: there is no room for them any more.`);
      logger.info(`Successfully copied ${waiting - dropped} messages to the new buffer.`);
    }
    logger.info(`Client buffer resized from ${old} to ${size} elements.`);
  }

  /** Ends the sending at its pace. Resolves when nothing is being sent any more. */
  async stop(): Promise<void> {
    this.#sender.stop();
    await this.#running;
  }

  /** After `stop`: what still waits, one by one, oldest first. */
  *rest(): Generator<Buffer> {
    for (let event = this.#buffer.first(); event !== undefined; event = this.#buffer.first()) {
      this.#buffer.shift();
      yield event;
    }
  }

  #emptied(): void {
    if (this.#freeing && !this.#ended) {
      this.#freeing = false;
      this.#parts.logger.info('Dispatch buffer thread received stop signal. Exiting.');
      this.#parts.logger.info('Client buffer freed successfully.');
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
