import type { EventSource } from './bus-event.js';
import { readSource } from './event-cells.js';
import { decodeMessage } from './message-codec.js';

/** Sources that are remembered, and their bytes at most: a few for each agent that is connected. */
const MOST_SOURCES = 16_384;
const MOST_BYTES = 1024;

/**
 * Where events came from, by the bytes it was said in: agents say the same in every batch. What it gives is the same object for the same
 * bytes, as long as it is remembered.
 */
export class SourceMemory {
  #known = new Map<string, EventSource>();

  /** The source that lies at bytes `from` up to `to` of a frame; undefined when there is none. @throws MessageError */
  read(frame: Buffer, from: number, to: number): EventSource | undefined {
    if (to - from > MOST_BYTES) return readSource(decodeMessage(frame.subarray(from, to)));
    const key = frame.toString('latin1', from, to);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const read = readSource(decodeMessage(frame.subarray(from, to)));
    if (read === undefined) return undefined;
    if (this.#known.size >= MOST_SOURCES) this.#known = new Map();
    this.#known.set(key, read);
    return read;
  }
}
