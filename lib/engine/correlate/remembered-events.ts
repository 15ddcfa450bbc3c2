import { deserialize, serialize } from 'node:v8';
import { columnsOf, type EventColumns, eventsOf } from './correlation-columns.js';
import type { SnapshotEvent } from './correlation-snapshot.js';
import type { BlockContent, EventBlock } from './event-blocks.js';

/** Mark of an event that is forgotten. */
const FORGOTTEN = -1;

/** A part of what is encoded: events, as V8 serializes `EventColumns`, and what may change of them. */
type EncodedPart = {
  readonly columns: Uint8Array;
  /** By the places of the events in the columns. */
  readonly marks: Int16Array;
};

/**
 * All remembered events of a moment, for a checkpoint: encoded a part at a time, later. Events do not change but for their
 * marks, which are copied, so that a part that was encoded for an earlier checkpoint is good for this one.
 */
export class RememberedEvents {
  readonly #parts: { readonly content: BlockContent; readonly marks: Int16Array }[] = [];
  readonly #fieldKeys: readonly string[];
  #count = 0;

  /** Numbers the events of blocks by their places among all (`RememberedEvent.position`). */
  constructor(blocks: readonly EventBlock[], fieldKeys: readonly string[]) {
    this.#fieldKeys = fieldKeys;
    for (const { events, content } of blocks) {
      const marks = new Int16Array(events.length).fill(FORGOTTEN);
      for (const [index, event] of events.entries()) {
        if (event === undefined) continue;
        event.position = this.#count;
        this.#count += 1;
        marks[index] = event.mark;
      }
      this.#parts.push({ content, marks });
    }
  }

  /** How many events there are. */
  get count(): number {
    return this.#count;
  }

  /** How many parts they are encoded in. */
  get parts(): number {
    return this.#parts.length;
  }

  /** A part, for `decodeEvents`; a few milliseconds when it was not encoded before. */
  encode(number: number): Buffer {
    const part = this.#parts[number];
    if (part === undefined) throw new RangeError('there is no such part');
    const { content, marks } = part;
    if (content.encoded === undefined) {
      content.encoded = serialize(columnsOf(content.events, this.#fieldKeys));
      content.events = [];
    }
    return serialize({ columns: content.encoded, marks } satisfies EncodedPart);
  }
}

/** The events of a part, also of one that was written before parts were kept: columns alone. */
export function decodeEvents(bytes: Uint8Array): SnapshotEvent[] {
  const part = deserialize(bytes) as EncodedPart | EventColumns;
  if (!('columns' in part)) return eventsOf(part);
  const { columns, marks } = part;
  return eventsOf(deserialize(columns) as EventColumns)
    .map((event, index) => ({ ...event, mark: marks[index] ?? FORGOTTEN }))
    .filter(({ mark }) => mark !== FORGOTTEN);
}
