import { type LogLine, MAX_LINE_BYTES } from '../line-splitter.js';
import type { EmitRecord, RecordAssembler } from '../log-record.js';

/** What the next line is to the lines held back. */
export type LinePlace =
  /** It belongs to them. */
  | 'continues'
  /** It begins a record; what is held back is complete without it. */
  | 'begins'
  /** It belongs to them and completes the record. */
  | 'ends'
  /** It belongs to no record, and is no event. */
  | 'alone';

/** How lines become one record. */
export type JoinRules = {
  /** @param held texts held back, which may be none */
  readonly place: (line: Buffer, held: readonly Buffer[]) => LinePlace;
  /** What is put between two lines. */
  readonly separator: string;
  /** Whether the record is one that stands for an event; others are dropped. */
  readonly transform?: (message: Buffer) => Buffer | undefined;
  /** Told of what is no event: a line, or a record that stands for none. Empty lines are not told. */
  readonly refused?: (bytes: Buffer) => void;
  readonly timeoutMs: number;
  /** Lines of one record; when there are more, a new record begins. */
  readonly maxLines: number;
};

/** Formats in which several lines are one event. A record never grows beyond the size of the longest line. */
export class JoinedLines implements RecordAssembler {
  readonly timeoutMs: number;
  readonly #rules: JoinRules;
  readonly #separator: Buffer;
  #held: Buffer[] = [];
  #bytes = 0;
  #end = 0;

  constructor(rules: JoinRules) {
    this.#rules = rules;
    this.#separator = Buffer.from(rules.separator);
    this.timeoutMs = rules.timeoutMs;
  }

  get pending(): boolean {
    return this.#held.length > 0;
  }

  add(line: LogLine, emit: EmitRecord): void {
    const place = this.#rules.place(line.bytes, this.#held);
    if (place === 'begins' || place === 'alone') {
      this.flush(emit);
    }
    if (place === 'alone') {
      this.#refuse(line.bytes);
      return;
    }
    const size = line.bytes.length + this.#separator.length;
    if (this.#held.length >= this.#rules.maxLines || this.#bytes + size > MAX_LINE_BYTES) {
      this.flush(emit);
    }
    // A copy, so that what else was read with it need not stay in memory.
    this.#held.push(Buffer.from(line.bytes));
    this.#bytes += size;
    this.#end = line.end;
    if (place === 'ends') {
      this.flush(emit);
    }
  }

  flush(emit: EmitRecord): void {
    if (this.#held.length === 0) {
      return;
    }
    const parts = this.#held.flatMap((line, index) => (index === 0 ? [line] : [this.#separator, line]));
    const joined = Buffer.concat(parts);
    this.#held = [];
    this.#bytes = 0;
    const message = this.#rules.transform === undefined ? joined : this.#rules.transform(joined);
    if (message === undefined) {
      this.#refuse(joined);
    } else if (message.length > 0) {
      emit({ message, end: this.#end });
    }
  }

  #refuse(bytes: Buffer): void {
    if (bytes.length > 0) {
      this.#rules.refused?.(bytes);
    }
  }
}
