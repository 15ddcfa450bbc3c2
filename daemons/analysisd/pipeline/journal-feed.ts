import { EventHeads } from '../../../lib/journal/event-heads.js';
import type { Journal } from '../../../lib/journal/journal.js';
import { JournalDamageError } from '../../../lib/journal/journal-error.js';
import type { JournalReader } from '../../../lib/journal/journal-reader.js';
import {
  decodeHeads,
  decodeRecord,
  EVENTS,
  isEvents,
  type RecordedEntry,
  type RecordedHeads,
  RecordError,
} from './journal-record.js';

/** Records kept in memory for an analysis that keeps up; beyond that it reads them from the journal. */
const MAX_EVENTS = 32_768;
const MAX_BYTES = 32 * 1024 * 1024;
/** What an event takes beside its message, roughly. */
const EVENT_BYTES = 400;

/** A record in memory, and what it counts for. */
type KeptRecord = {
  readonly read: () => RecordedEntry | RecordedHeads;
  readonly events: number;
  readonly bytes: number;
};

/**
 * Hands the analysis the records of the journal in their order, each once: from memory while it keeps up, else from the
 * disk. Only durable records come here, so that a power cut cannot leave the alert of an event that is sent again.
 */
export class JournalFeed {
  readonly #journal: Journal;
  readonly #onUnreadable: (error: unknown) => void;
  /** Where heads of events are read to; undefined when events are given whole. */
  readonly #heads: EventHeads | undefined;
  #entries: KeptRecord[] = [];
  #head = 0;
  #events = 0;
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
   * @param readsHeads whether of events only the heads are given, with their bytes
   */
  constructor(journal: Journal, from: number, onUnreadable: (error: unknown) => void, readsHeads = false) {
    this.#journal = journal;
    this.#heads = readsHeads ? new EventHeads() : undefined;
    this.#tail = from;
    this.#onUnreadable = onUnreadable;
  }

  /** Where the record after the last one handed out, or in memory, begins. */
  get tail(): number {
    return this.#tail;
  }

  /** Tells of a record that is durable now. */
  offer(entry: RecordedEntry): void {
    this.#keep(entry);
    this.#wake();
  }

  /** The next record; undefined when there is none yet. @throws the file system's error; the next call tries again */
  next(): RecordedEntry | RecordedHeads | undefined {
    return this.#fromMemory() ?? this.#fromDisk();
  }

  /** Resolves when there may be a record, or when `wake` is called. */
  wait(): Promise<void> {
    if (this.#behind || this.#head < this.#entries.length) return Promise.resolve();
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

  #keep(entry: RecordedEntry): void {
    if (this.#behind || entry.position < this.#tail) return;
    if (entry.position !== this.#tail || this.#events >= MAX_EVENTS || this.#bytes >= MAX_BYTES) {
      this.#behind = true;
      return;
    }
    const { payload, content, ...place } = entry;
    const events = isEvents(content) ? content.length : 1;
    const bytes = entry.next - entry.position + events * EVENT_BYTES;
    const heads = payload === undefined || !isEvents(content) ? undefined : this.#heads;
    const read =
      heads === undefined || payload === undefined
        ? () => ({ ...place, content })
        : () => decodeHeads({ ...place, payload }, heads);
    this.#entries.push({ read, events, bytes });
    this.#events += events;
    this.#bytes += bytes;
    this.#tail = entry.next;
  }

  #fromMemory(): RecordedEntry | RecordedHeads | undefined {
    const kept = this.#entries[this.#head];
    if (kept === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    }
    this.#events -= kept.events;
    this.#bytes -= kept.bytes;
    return kept.read();
  }

  #fromDisk(): RecordedEntry | RecordedHeads | undefined {
    while (this.#behind) {
      const reader = (this.#reader ??= this.#journal.reader(this.#tail));
      try {
        const record = reader.next();
        this.#tail = reader.position;
        if (record !== undefined) {
          const heads = record.kind === EVENTS ? this.#heads : undefined;
          return heads === undefined ? decodeRecord(record) : decodeHeads(record, heads);
        }
      } catch (error) {
        this.#tail = reader.position;
        if (!(error instanceof JournalDamageError || error instanceof RecordError)) throw error;
        this.#onUnreadable(error);
        continue;
      }
      this.#behind = false;
      this.close();
    }
    return undefined;
  }
}
