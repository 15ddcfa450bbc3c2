import { BusError } from '../../lib/bus/bus-error.js';
import type { AlertPage, AlertPosition, AlertStream } from '../../lib/output/alert-stream.js';

/** Readers that wait at a time; one more is answered at once, empty. */
const MAX_WAITING = 64;

/** Answers `alerts.read`: pages of the alert stream, with a wait for the first alert behind its end. */
export class AlertReader {
  readonly #stream: AlertStream;
  readonly #wakers = new Set<() => void>();

  constructor(stream: AlertStream) {
    this.#stream = stream;
  }

  /** Tells waiting readers that there may be new alerts. */
  wake(): void {
    for (const waker of this.#wakers) waker();
    this.#wakers.clear();
  }

  /** @throws BusError `bad_position` */
  async read(after: AlertPosition | 'start' | 'end', max: number, waitMs: number): Promise<AlertPage> {
    const position = after === 'start' ? this.#stream.start() : after === 'end' ? this.#stream.end() : after;
    const deadline = performance.now() + waitMs;
    for (;;) {
      const page = this.#page(position, max);
      const left = deadline - performance.now();
      if (page.alerts.length > 0 || left <= 0 || this.#wakers.size >= MAX_WAITING) return page;
      await this.#woken(left);
    }
  }

  #page(position: AlertPosition, max: number): AlertPage {
    try {
      return this.#stream.read(position, max);
    } catch (error) {
      if (error instanceof RangeError) throw new BusError('bad_position', error.message);
      throw error;
    }
  }

  #woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wakers.add(done);
    });
  }
}
