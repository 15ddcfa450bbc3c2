import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { decodeEventBatch } from '../../../lib/journal/event-batch.js';

/*
 * A unit of work that all threads get: events of one or several records of the journal, as they lie there, and which thread
 * analyses each. Numbers are 32 bits, little-endian:
 *
 *   number of parts
 *   parts: bytes of the record, its first event that counts, number of events that count
 *   threads: one byte an event that counts
 *   records
 */

/** In place of a thread, of which there are fewer: nobody analyses the event. */
export const NOBODY = 255;

const WORD = 4;

/** Events of a record. */
export type UnitPart = {
  readonly payload: Buffer;
  /** First event that counts, and how many do. */
  readonly from: number;
  readonly count: number;
};

/** Puts a unit together. @param owners which thread analyses each event that counts, or NOBODY */
export function encodeUnit(parts: readonly UnitPart[], owners: Uint8Array): SharedArrayBuffer {
  const head = WORD * (1 + 3 * parts.length);
  const size = parts.reduce((sum, { payload }) => sum + payload.length, head + owners.length);
  const unit = new SharedArrayBuffer(size);
  const bytes = Buffer.from(unit);
  let at = bytes.writeUInt32LE(parts.length, 0);
  for (const { payload, from, count } of parts) {
    at = bytes.writeUInt32LE(payload.length, at);
    at = bytes.writeUInt32LE(from, at);
    at = bytes.writeUInt32LE(count, at);
  }
  bytes.set(owners, at);
  at += owners.length;
  for (const { payload } of parts) {
    bytes.set(payload, at);
    at += payload.length;
  }
  return unit;
}

/** One event of a unit. @param index among all events that count */
export function eventOfUnit(unit: SharedArrayBuffer, index: number): ReceivedEvent | undefined {
  const bytes = Buffer.from(unit);
  const ownerAt = WORD * (1 + 3 * bytes.readUInt32LE(0));
  const owner = bytes[ownerAt + index] ?? NOBODY;
  let before = 0;
  for (let other = 0; other < index; other += 1) if (bytes[ownerAt + other] === owner) before += 1;
  for (const event of eventsOfUnit(unit, owner)) {
    if (before === 0) return event;
    before -= 1;
  }
  return undefined;
}

/** The events of a unit that one thread analyses, in their order. Messages share memory with the unit. */
export function* eventsOfUnit(unit: SharedArrayBuffer, thread: number): Generator<ReceivedEvent> {
  const bytes = Buffer.from(unit);
  const count = bytes.readUInt32LE(0);
  let ownerAt = WORD * (1 + 3 * count);
  let payloadAt = ownerAt;
  for (let part = 0; part < count; part += 1) payloadAt += bytes.readUInt32LE(WORD * (3 + 3 * part));
  for (let part = 0; part < count; part += 1) {
    const at = WORD * (1 + 3 * part);
    const length = bytes.readUInt32LE(at);
    const from = bytes.readUInt32LE(at + WORD);
    const end = from + bytes.readUInt32LE(at + 2 * WORD);
    const firstOwner = ownerAt - from;
    yield* decodeEventBatch(
      bytes.subarray(payloadAt, payloadAt + length),
      (index) => index >= from && index < end && bytes[firstOwner + index] === thread,
    );
    ownerAt += end - from;
    payloadAt += length;
  }
}
