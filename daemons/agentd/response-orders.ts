import { pause } from '../../lib/async/pause.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { type execdContract, MAX_RESPONSE_BYTES } from '../../lib/bus/contracts/execd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { OrderStore, StoredOrder } from './order-store.js';

/** Orders on their way to svc-execd: stops a manager gone wrong from filling memory. */
const MOST_WAITING = 256;
/** So long an order waits for svc-execd, which may be starting; then it is too late for it. Milliseconds. */
const WAIT_MS = 10 * 60_000;
const PAUSE_MS = 1000;

/** Answers after which an order was not taken, and may be. */
const LATER: ReadonlySet<string> = new Set(['unavailable', 'busy', 'too_many']);

export type ResponseOrdersParts = {
  /** Keeps those that wait. */
  readonly store: Pick<OrderStore, 'all' | 'add' | 'remove'>;
  readonly execd: Pick<RequestClient<typeof execdContract>, 'call'>;
  /** Milliseconds until a call fails. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Between two tries, milliseconds. */
  readonly pauseMs?: number;
  /** How long an order waits, milliseconds. */
  readonly waitMs?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
};

type WaitingOrder = StoredOrder & { readonly number: number; readonly stored: Promise<void> };

/** Active responses that the manager wants of this host: svc-execd takes them over, one by one (daemons-and-config.md 5.2). */
export class ResponseOrders {
  /** Orders that svc-execd took, those it refused, those it did not get, and those that found no room. */
  readonly counters = { delivered: 0, refused: 0, failed: 0, dropped: 0 };
  readonly #parts: ResponseOrdersParts;
  readonly #failedLog: LimitedLogger;
  readonly #droppedLog: LimitedLogger;
  readonly #waiting: WaitingOrder[] = [];
  readonly #now: () => number;
  #lastNumber = 0;
  #busy = false;

  constructor(parts: ResponseOrdersParts) {
    this.#parts = parts;
    this.#failedLog = parts.logger.limited();
    this.#droppedLog = parts.logger.limited();
    this.#now = parts.now ?? (() => Date.now());
  }

  /** Goes on with what waited when the process before ended. */
  start(): void {
    for (const [number, order] of this.#parts.store.all()) {
      this.#waiting.push({ ...order, number, stored: Promise.resolve() });
      this.#lastNumber = number;
    }
    if (this.#waiting.length > 0) void this.#work();
  }

  /** Hands an order over. @param text what is behind `#!-execd ` */
  take(text: string): void {
    if (text === '' || Buffer.byteLength(text) > MAX_RESPONSE_BYTES) {
      this.counters.refused += 1;
      this.#droppedLog.warn(`An order for svc-execd refused: it has ${String(Buffer.byteLength(text))} bytes.`);
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) {
      this.counters.dropped += 1;
      this.#droppedLog.warn('An order for svc-execd dropped: too many wait for it.');
      return;
    }
    const { waitMs = WAIT_MS } = this.#parts;
    const order = { text, until: this.#now() + waitMs };
    const number = (this.#lastNumber += 1);
    this.#waiting.push({ ...order, number, stored: this.#parts.store.add(number, order) });
    if (!this.#busy) void this.#work();
  }

  /** A section of what svc-execd has in force. @returns as requests are answered */
  async section(name: string): Promise<string> {
    const { execd, deadlineMs } = this.#parts;
    try {
      return `ok ${JSON.stringify(await execd.call('config', { section: name }, { deadlineMs }))}`;
    } catch (error) {
      const code = error instanceof BusError ? error.code : undefined;
      if (code === 'unknown_section' || code === 'bad_params') return 'err Could not get requested section';
      return `err ${describeError(error)}`;
    }
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      await next.stored;
      const isOver = await this.#handOver(next);
      // The next start goes on with what is not.
      if (!isOver) return;
      await this.#parts.store.remove(next.number);
      this.#waiting.shift();
    }
    this.#busy = false;
  }

  /** @returns whether it was taken or given up; false at the stop */
  async #handOver({ text, until }: WaitingOrder): Promise<boolean> {
    const { execd, deadlineMs, signal, pauseMs = PAUSE_MS } = this.#parts;
    while (!signal.aborted) {
      try {
        await execd.call('responses.run', { message: text }, { deadlineMs });
        this.counters.delivered += 1;
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        const again = error instanceof BusError && LATER.has(error.code) && this.#now() < until;
        if (!again) {
          this.#lost(error);
          return true;
        }
        await pause(pauseMs, signal);
      }
    }
    return false;
  }

  /** What svc-execd refuses it has logged itself. */
  #lost(error: unknown): void {
    const refusals = ['bad_message', 'unknown_command', 'not_found', 'disabled', 'white_listed', 'too_many'];
    if (error instanceof BusError && refusals.includes(error.code)) {
      this.counters.refused += 1;
      return;
    }
    this.counters.failed += 1;
    this.#failedLog.error(`An order of the manager did not get to svc-execd: ${describeError(error)}`);
  }
}
