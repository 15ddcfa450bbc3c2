/**
 * The counters of a message: every sender counts its messages up (agents-and-groups.md 3.4).
 */
export type CounterPair = {
  /** 0 to 4294967295 */
  readonly global: number;
  /** 1 to 9997; 0 before the first message. */
  readonly local: number;
};

export const NO_COUNTERS: CounterPair = { global: 0, local: 0 };

/** The local counter starts again after this. */
const LAST_LOCAL = 9997;
const LAST_GLOBAL = 0xffff_ffff;

/** How received counters stand to the last ones that were accepted. */
export type CounterVerdict = 'newer' | 'duplicate' | 'older';

/**
 * The counters of a later message.
 * @param steps how much later, 1 or more
 */
export function laterCounters(pair: CounterPair, steps = 1): CounterPair {
  // A file written by others may hold a larger local counter: the next one is then the first of the next round.
  const local = Math.min(pair.local, LAST_LOCAL) + steps;
  const rounds = Math.floor((local - 1) / LAST_LOCAL);
  return { global: (pair.global + rounds) % (LAST_GLOBAL + 1), local: local - rounds * LAST_LOCAL };
}

/** Judges received counters (3.4, `verify_msg_id=1`). */
export function compareCounters(received: CounterPair, saved: CounterPair): CounterVerdict {
  if (received.global !== saved.global) return received.global > saved.global ? 'newer' : 'older';
  return received.local > saved.local ? 'newer' : 'duplicate';
}

/** Text of a counter file: `<global>:<local>:`. */
export function formatCounters(pair: CounterPair): string {
  return `${pair.global}:${pair.local}:`;
}

/**
 * Reads the text of a counter file. Whatever follows the two numbers is left over from longer ones.
 * @returns undefined when the text does not begin with two numbers
 */
export function parseCounters(text: string): CounterPair | undefined {
  const found = /^(\d{1,10}):(\d{1,10})(?::|$)/.exec(text);
  if (found === null) return undefined;
  const global = Number(found[1]);
  return global > LAST_GLOBAL ? undefined : { global, local: Number(found[2]) };
}
