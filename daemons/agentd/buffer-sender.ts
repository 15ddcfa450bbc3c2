import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { EventBuffer } from './event-buffer.js';

/** How far behind its pace the sender may catch up: what a timer is late, and no burst. */
const SLACK_MS = 20;

/** Sends what the buffer holds, so many events a second at most (agents-and-groups.md 5.3). */
export class BufferSender {
  readonly #buffer: EventBuffer;
  readonly #send: (event: Buffer) => Promise<void>;
  readonly #logger: Logger;
  readonly #emptied: () => void;
  #gapMs: number;
  #wake: (() => void) | undefined;
  #stopped = false;

  /**
   * @param send resolves when the event is on its way; it waits for a connection
   * @param emptied told when nothing waits any more
   */
  constructor(
    buffer: EventBuffer,
    send: (event: Buffer) => Promise<void>,
    perSecond: number,
    logger: Logger,
    emptied: () => void = () => {},
  ) {
    this.#buffer = buffer;
    this.#send = send;
    this.#gapMs = 1000 / perSecond;
    this.#logger = logger;
    this.#emptied = emptied;
  }

  /** @param perSecond events that leave the buffer from now on; Infinity for as many as the connection takes */
  pace(perSecond: number): void {
    this.#gapMs = 1000 / perSecond;
  }

  /** There is something to send. */
  wake(): void {
    this.#wake?.();
  }

  /** Runs until `stop`, or until `send` waits no more for a connection. */
  async run(): Promise<void> {
    let due = performance.now();
    while (!this.#stopped) {
      const event = this.#buffer.first();
      if (event === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      try {
        await this.#send(event);
      } catch (error) {
        if (!this.#stopped) this.#logger.debug(`An event was not sent: ${describeError(error)}`);
        return;
      }
      this.#buffer.shift();
      if (this.#buffer.length === 0) this.#emptied();
      const now = performance.now();
      due = Math.max(due + this.#gapMs, now - SLACK_MS);
      if (due > now) await delay(due - now);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }
}
