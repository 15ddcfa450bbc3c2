import type { LogLine } from '../line-splitter.js';
import type { EmitRecord, RecordAssembler } from '../log-record.js';

/** What a line becomes; undefined drops it. */
export type LineTransform = (bytes: Buffer) => Buffer | undefined;

/** Formats in which each line is an event: syslog and its like, JSON, djb-multilog, nmap. Empty lines are no event. */
export class SingleLine implements RecordAssembler {
  readonly pending = false;
  readonly timeoutMs = 0;
  readonly #transform: LineTransform | undefined;

  constructor(transform?: LineTransform) {
    this.#transform = transform;
  }

  add({ bytes, end }: LogLine, emit: EmitRecord): void {
    const message = bytes.length === 0 || this.#transform === undefined ? bytes : this.#transform(bytes);
    if (message !== undefined && message.length > 0) {
      emit({ message, end });
    }
  }

  flush(): void {
    // Nothing is held back.
  }
}
