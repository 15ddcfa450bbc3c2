import { MAX_STREAMS } from './bus-limits.js';

/**
 * Last accepted sequence of every stream. Where what is accepted goes into a journal, its checkpoints hold them, and a
 * start moves them by the records behind: what was accepted before a crash is not accepted again after it.
 */
export interface StreamPositions {
  /** Last accepted sequence, or undefined for a stream that is not remembered. */
  get(stream: string): number | undefined;
  set(stream: string, sequence: number): void;
}

/**
 * Positions in memory, of the streams that were moved most recently. When one too many comes, the one that was not
 * moved for the longest time is forgotten. That costs nothing while its producer lives: the sink asks it for its last
 * acknowledged sequence. A producer started afresh goes on from where its own notes say.
 */
export class MemoryStreamPositions implements StreamPositions {
  /** In order of their last move: a Map keeps insertion order. */
  readonly #positions = new Map<string, number>();

  constructor(private readonly limit: number = MAX_STREAMS) {}

  get size(): number {
    return this.#positions.size;
  }

  get(stream: string): number | undefined {
    return this.#positions.get(stream);
  }

  set(stream: string, sequence: number): void {
    this.#positions.delete(stream);
    this.#positions.set(stream, sequence);
    if (this.#positions.size <= this.limit) return;
    for (const oldest of this.#positions.keys()) {
      this.#positions.delete(oldest);
      return;
    }
  }

  /** Every stream with its position, the one moved last at the end. */
  entries(): IterableIterator<[string, number]> {
    return this.#positions.entries();
  }
}
