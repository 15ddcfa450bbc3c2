import { MAX_BEAT_BYTES } from '../../../lib/bus/contracts/db-presence.js';

/** Most bytes of one: a number and a time, each in a variable number of them. */
const MAX_PAIR_BYTES = 16;

/** Last keepalive of an agent, epoch seconds. */
export type Beat = { readonly id: number; readonly time: number };

/**
 * Keepalives as nodes tell them to each other: in the order of the agents' numbers, each as the difference of its number from
 * the one before, and of its time from the one before. That is two bytes for most; 10,000 agents that report every ten seconds are 2 kB
 * a second.
 * @param beats ascending by id; what is more than a message carries is left out: it comes again with the next keepalive
 */
export function encodeBeats(beats: Iterable<Beat>): Uint8Array {
  const bytes: number[] = [];
  let id = 0;
  let time = 0;
  for (const beat of beats) {
    if (bytes.length > MAX_BEAT_BYTES - MAX_PAIR_BYTES) break;
    pushNumber(bytes, beat.id - id);
    const difference = beat.time - time;
    pushNumber(bytes, difference < 0 ? -2 * difference - 1 : 2 * difference);
    ({ id, time } = beat);
  }
  return Uint8Array.from(bytes);
}

/** Calls back for each; what is cut off or is no number ends it. */
export function decodeBeats(bytes: Uint8Array, take: (id: number, time: number) => void): void {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let unit = 1; at < bytes.length; unit *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  let id = 0;
  let time = 0;
  while (at < bytes.length) {
    id += next();
    const difference = next();
    time += difference % 2 === 1 ? -(difference + 1) / 2 : difference / 2;
    if (!Number.isSafeInteger(id) || !Number.isSafeInteger(time)) return;
    take(id, time);
  }
}

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
