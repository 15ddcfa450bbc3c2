import { EventHeads } from '../../../lib/journal/event-heads.js';
import type { Journal } from '../../../lib/journal/journal.js';
import { JournalDamageError } from '../../../lib/journal/journal-error.js';
import type { JournalReader } from '../../../lib/journal/journal-reader.js';
import { decodeEvents, decodeRecord, type OfferedRecord, type RecordedEntry, RecordError } from './journal-record.js';

/** Bytes of records kept in memory for an analysis that keeps up; beyond that it reads them from the journal. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Records that were handed out, and may still be in memory. */
const MOST_DONE = 16;

/**
 * Hands the analysis the records of the journal in their order, each once: from memory while it keeps up, else from the
 * disk. Only durable records come here, so that a power cut cannot leave the alert of an event that is sent again.
 */
export class JournalFeed {
  readonly #journal: Journal;
  readonly #onUnreadable: (error: unknown) => void;
  readonly #heads = new EventHeads();
  readonly #records: OfferedRecord[] = [];
  #head = 0;
  #bytes = 0;
  /** Where the record after those in memory begins; while reading, where the next read begins. */
  #tail: number;
  /** Records that are not in memory were appended behind `#tail`. */
  #behind = true;
  #reader: JournalReader | undefined;
  #wake: () => void = () => {};

  /**
   * @param from position of the first record
   * @param onUnreadable told of a record that cannot be understood, and is passed over
   */
  constructor(journal: Journal, from: number, onUnreadable: (error: unknown) => void) {
    this.#journal = journal;
    this.#tail = from;
    this.#onUnreadable = onUnreadable;
  }

  /** Where the record after the last one handed out, or in memory, begins. */
  get tail(): number {
    return this.#tail;
  }

  /** Tells of a record that is durable now. */
  offer(record: OfferedRecord): void {
    this.#keep(record);
    this.#wake();
  }

  /** The next record; undefined when there is none yet. @throws the file system's error; the next call tries again */
  next(): RecordedEntry | undefined {
    for (;;) {
      try {
        return this.#fromMemory() ?? this.#fromDisk();
      } catch (error) {
        if (!(error instanceof JournalDamageError || error instanceof RecordError)) throw error;
        this.#onUnreadable(error);
      }
    }
  }

  /** Resolves when there may be a record, or when `wake` is called. */
  wait(): Promise<void> {
    if (this.#behind || this.#head < this.#records.length) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Lets go of the file that is read. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  /** Ends a wait. */
  wake(): void {
    this.#wake();
  }

  #keep(record: OfferedRecord): void {
    if (this.#behind || record.position < this.#tail) return;
    if (record.position !== this.#tail || this.#bytes >= MAX_BYTES) {
      this.#behind = true;
      return;
    }
    this.#records.push(record);
    this.#bytes += record.next - record.position;
    this.#tail = record.next;
  }

  #fromMemory(): RecordedEntry | undefined {
    const record = this.#records[this.#head];
    if (record === undefined) return undefined;
    this.#head += 1;
    // Their bytes must go, also when there are always more.
    if (this.#head >= MOST_DONE || this.#head === this.#records.length) {
      this.#records.splice(0, this.#head);
      this.#head = 0;
    }
    const { position, next, writtenAt, content } = record;
    this.#bytes -= next - position;
    return 'payload' in content
      ? decodeEvents({ position, next, writtenAt }, content.payload, this.#heads)
      : { position, next, writtenAt, content };
  }

  #fromDisk(): RecordedEntry | undefined {
    while (this.#behind) {
      const reader = (this.#reader ??= this.#journal.reader(this.#tail));
      try {
        const record = reader.next();
        if (record !== undefined) return decodeRecord(record, this.#heads);
      } finally {
        this.#tail = reader.position;
      }
      this.#behind = false;
      this.close();
    }
    return undefined;
  }
}
