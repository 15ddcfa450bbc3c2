import type { SegmentKey } from './journal-record.js';

/** One file of the journal. */
export type Segment = {
  readonly path: string;
  /** Position of its first record. */
  readonly first: number;
  /** Where the records of the segment before end. */
  readonly previousEnd: number;
  /** Undefined when its header is not readable, and so none of its records. */
  readonly key: SegmentKey | undefined;
  /** Where its records end: grows while it is written. */
  end: number;
  /** Size of the file. */
  bytes: number;
};

/** The segments there are, oldest first, with the positions all parts of the journal share. */
export class SegmentTable {
  readonly #segments: Segment[];
  /** Freed, their files not deleted yet. */
  readonly #retired = new Set<Segment>();
  /** Position behind the last record that is safe: readers go up to here. */
  durable: number;
  /** Position of the next record. */
  end: number;

  constructor(segments: readonly Segment[], end: number) {
    this.#segments = [...segments];
    this.end = end;
    this.durable = end;
  }

  get start(): number {
    return this.#segments[0]?.first ?? this.end;
  }

  /** Files there are. */
  get count(): number {
    return this.#segments.length + this.#retired.size;
  }

  /** Segments that are not freed. */
  get size(): number {
    return this.#segments.length;
  }

  /** Bytes of all files. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#segments) sum += bytes;
    for (const { bytes } of this.#retired) sum += bytes;
    return sum;
  }

  get newest(): Segment | undefined {
    return this.#segments.at(-1);
  }

  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** Forgets a segment whose file is deleted. */
  remove(segment: Segment): void {
    this.#retired.delete(segment);
    const index = this.#segments.indexOf(segment);
    if (index >= 0) this.#segments.splice(index, 1);
  }

  has(path: string): boolean {
    return this.#segments.some((segment) => segment.path === path);
  }

  /** The first segment with records at or behind a position. */
  at(position: number): Segment | undefined {
    return this.#segments.find((segment) => segment.end > position);
  }

  /**
   * Takes out the segments all of whose records are before a position, without the newest: readers do not see them any
   * more. Their files count until `remove`.
   * @returns all that wait for that, oldest first
   */
  retire(before: number): Segment[] {
    const behind = this.#segments.findIndex((segment) => segment.end > before);
    const last = this.#segments.length - 1;
    for (const segment of this.#segments.splice(0, behind < 0 ? last : Math.min(behind, last))) {
      this.#retired.add(segment);
    }
    return [...this.#retired];
  }
}
