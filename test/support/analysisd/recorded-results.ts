import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultMemory } from '../../../daemons/analysisd/threads/result-memory.js';
import { type HappeningTarget, ResultReader, type ResultTarget } from '../../../daemons/analysisd/threads/results.js';
import type { EventCounting } from '../../../lib/engine/event-counting.js';

/** Names the directory into which threads record their results, and from which others give them once more. */
export const RECORDING = 'SVC_RECORDING';

/*
 * What threads made of events, each thread in a file of its own: for each event the number of its numbers, that of its bytes, its
 * numbers, its bytes. 32 bits each, as the machine has them.
 */

export function recordingPath(thread: number): string {
  return join(process.env[RECORDING] ?? '', `thread-${String(thread)}`);
}

const NOWHERE: EventCounting & ResultTarget & HappeningTarget = {
  begin: () => undefined,
  firewall: () => {},
  statistics: () => undefined,
  fired: () => 1,
  beginRecord: () => {},
  addBytes: () => {},
  addLate: () => {},
  endRecord: () => {},
  newId: () => {},
  hourEnded: () => {},
};
const EVENT = { receivedAt: 0, queue: '' };

/** The results of some events as a recording has them. */
export function encodeResults(events: number, memory: ResultMemory): Buffer {
  const reader = new ResultReader();
  reader.begin(events, memory);
  const pieces: Buffer[] = [];
  let [number, byte] = [0, 0];
  while (!reader.isDone) {
    reader.read(EVENT, NOWHERE, [], NOWHERE, NOWHERE);
    const { numbers, bytes } = reader.place;
    const head = new Int32Array(2 + numbers - number);
    head[0] = numbers - number;
    head[1] = bytes - byte;
    for (let at = 0; number < numbers; number += 1, at += 1) head[2 + at] = memory.number(number);
    pieces.push(
      Buffer.from(head.buffer),
      Buffer.from(memory.texts.subarray(memory.textsAt + byte, memory.textsAt + bytes)),
    );
    byte = bytes;
  }
  return Buffer.concat(pieces);
}

/** Gives the results of a recording, in their order. */
export class RecordedResults {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(thread: number) {
    this.#bytes = readFileSync(recordingPath(thread));
  }

  /** Puts those of the next event into memory; behind the last one they begin anew. */
  put(memory: ResultMemory): void {
    const bytes = this.#bytes;
    if (this.#at === bytes.length) this.#at = 0;
    const numbers = bytes.readInt32LE(this.#at);
    const length = bytes.readInt32LE(this.#at + 4);
    let at = this.#at + 8;
    for (const end = at + 4 * numbers; at < end; at += 4) memory.put(bytes.readInt32LE(at));
    memory.text(bytes.toString('latin1', at, at + length));
    this.#at = at + length;
  }
}
