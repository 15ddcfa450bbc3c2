import { BusError } from '../../lib/bus/bus-error.js';
import { MAX_CALLS_RUNNING } from '../../lib/bus/bus-limits.js';
import type { RecordPage, RecordPosition, RecordStream } from '../../lib/output/record-stream.js';

/**
 * Readers that wait at a time; one more is answered at once, empty. Each holds one of the calls a daemon carries out at
 * once (`MAX_CALLS_RUNNING`): waiting readers must leave places for those who ask something else.
 */
const MAX_WAITING = MAX_CALLS_RUNNING / 2;

/** A page as it is answered. */
type RecordAnswer = Pick<RecordPage, 'records' | 'next'>;

/** Answers `alerts.read` and `responses.read`: pages of a stream, with a wait for the first record behind its end. */
export class RecordReader {
  readonly #stream: RecordStream;
  readonly #wakers = new Set<() => void>();

  constructor(stream: RecordStream) {
    this.#stream = stream;
  }

  /** Tells waiting readers that there may be new records. */
  wake(): void {
    for (const waker of this.#wakers) waker();
    this.#wakers.clear();
  }

  /** Gives up what the stream holds open. */
  close(): void {
    this.wake();
    this.#stream.close();
  }

  /** @throws BusError `bad_position` */
  async read(after: RecordPosition | 'start' | 'end', max: number, waitMs: number): Promise<RecordAnswer> {
    const position = after === 'start' ? this.#stream.start() : after === 'end' ? await this.#stream.end() : after;
    const deadline = performance.now() + waitMs;
    for (;;) {
      const page = await this.#page(position, max);
      const left = deadline - performance.now();
      if (page.records.length > 0 || left <= 0 || this.#wakers.size >= MAX_WAITING) return page;
      await this.#woken(left);
    }
  }

  async #page(position: RecordPosition, max: number): Promise<RecordAnswer> {
    try {
      const { records, next } = await this.#stream.read(position, max);
      return { records, next };
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
