import { FOLD } from './fold-ascii.js';

/** Smallest buffer, in bytes; most log lines fit. */
const INITIAL_SIZE = 2048;
/** A larger buffer than this (bytes) is given back when a small subject follows. */
const KEPT_SIZE = 128 * 1024;

/** Subjects shorter than this (bytes) are not looked at closely to tell what work on them costs. */
export const SHORT = 256;

/** Equals no subject: they have no NUL. */
const FORGOTTEN = '\0';

/** Occurrences of a text that are counted. */
const MAX_COUNTED = 100;

/** Entries of the pair index; a power of two. Behind them stand 256 for single bytes. */
const PAIRS = 4096;
/** An entry that every subject has. */
export const ALWAYS = PAIRS + 256;

/**
 * A subject as the matchers look at it: its bytes, and an index of the bytes and pairs of neighbouring bytes it contains. Hundreds
 * of patterns look at one subject; most of them need a text that is not there, and the index says so in a few nanoseconds,
 * without a search.
 */
export class Subject {
  text = '';
  length = 0;
  /** The bytes; entries from `length` on are old. */
  bytes = new Uint8Array(INITIAL_SIZE);
  #buffer = Buffer.from(this.bytes.buffer);
  #foldedText: string | undefined = undefined;
  readonly #counts = new Uint32Array(256);
  #countsValid = false;
  /** Bytes passed in looking at the subject closely, in all; whoever asks for it takes steps for it. */
  lookedAt = 0;
  readonly #longestRuns = new Map<Uint8Array, number>();
  /** Round (1..255) in which an entry of the index was last seen; those of this subject have the current one. */
  readonly seen = new Uint8Array(ALWAYS + 1);
  round = 1;

  constructor() {
    this.#index();
  }

  /** Takes over a byte string. */
  load(text: string): void {
    const length = text.length;
    if (length > this.bytes.length || (this.bytes.length > KEPT_SIZE && length < INITIAL_SIZE)) {
      this.bytes = new Uint8Array(Math.max(INITIAL_SIZE, length + (length >> 1)));
      this.#buffer = Buffer.from(this.bytes.buffer);
    }
    this.text = text;
    this.length = length;
    this.#foldedText = undefined;
    this.#countsValid = false;
    if (this.#longestRuns.size > 0) this.#longestRuns.clear();
    this.#buffer.write(text, 0, 'latin1');
    this.#index();
  }

  /** Is no text's any more, until one is taken over. */
  forget(): void {
    this.text = FORGOTTEN;
  }

  #index(): void {
    const { seen } = this;
    this.round += 1;
    if (this.round === 256) {
      seen.fill(0);
      this.round = 1;
    }
    const { round } = this;
    seen[ALWAYS] = round;
    const { bytes, length } = this;
    let before = 0;
    for (let i = 0; i < length; i += 1) {
      const byte = (bytes[i] ?? 0) | CASE_BIT;
      seen[pairOf(before, byte)] = round;
      seen[PAIRS + byte] = round;
      before = byte;
    }
  }

  /** False = at least one entry of the index (`pairsOf` a text) is not there, so that the text does not occur either. */
  mayContain(pairs: Uint16Array): boolean {
    const { seen, round } = this;
    for (const pair of pairs) if (seen[pair] !== round) return false;
    return true;
  }

  /** False = not even one of the entries is there. */
  mayContainOne(pairs: Uint16Array): boolean {
    const { seen, round } = this;
    for (const pair of pairs) if (seen[pair] === round) return true;
    return false;
  }

  /** Whether a byte above 0x7f occurs. */
  get hasHighByte(): boolean {
    const { bytes, length } = this;
    let all = 0;
    for (let i = 0; i < length; i += 1) all |= bytes[i] ?? 0;
    return all > 0x7f;
  }

  /** The subject with ASCII letters lower-cased. */
  get foldedText(): string {
    this.#foldedText ??= this.hasHighByte ? this.#foldedWithHighBytes() : this.text.toLowerCase();
    return this.#foldedText;
  }

  #foldedWithHighBytes(): string {
    const folded = Buffer.allocUnsafe(this.length);
    for (let i = 0; i < this.length; i += 1) folded[i] = FOLD[this.bytes[i] ?? 0] ?? 0;
    return folded.toString('latin1');
  }

  /** Length of the longest stretch of bytes whose flag in the table is 1; computed once for each table. */
  longestRun(table: Uint8Array): number {
    const known = this.#longestRuns.get(table);
    if (known !== undefined) return known;
    const { bytes, length } = this;
    let longest = 0;
    let run = 0;
    for (let i = 0; i < length; i += 1) {
      run = table[bytes[i] ?? 0] === 1 ? run + 1 : 0;
      if (run > longest) longest = run;
    }
    this.#longestRuns.set(table, longest);
    this.lookedAt += length;
    return longest;
  }

  /** How often a folded text occurs; the length where it does so more often than is worth counting. */
  occurrences(text: string): number {
    const { foldedText, length } = this;
    this.lookedAt += this.searchSteps(text.charCodeAt(0)) << 4;
    let count = 0;
    for (let at = foldedText.indexOf(text); at >= 0; at = foldedText.indexOf(text, at + 1)) {
      count += 1;
      if (count === MAX_COUNTED) return length;
    }
    return count;
  }

  /**
   * Steps that one search through the whole folded text for a text takes, however many pieces it is made in: bytes that are
   * not the text's first are passed fast, each of the others is a trial.
   * @param first folded first byte of the text
   */
  searchSteps(first: number): number {
    const { length } = this;
    if (length < SHORT) return 1 + (length >> 4);
    const { counts } = this;
    const isLetter = first >= 0x61 && first <= 0x7a;
    const trials = (counts[first] ?? 0) + (isLetter ? (counts[first - CASE_BIT] ?? 0) : 0);
    return (length >> 8) + (trials >> 1);
  }

  /** How often each byte occurs. */
  get counts(): Uint32Array {
    const counts = this.#counts;
    if (!this.#countsValid) {
      counts.fill(0);
      const { bytes, length } = this;
      for (let i = 0; i < length; i += 1) {
        const byte = bytes[i] ?? 0;
        counts[byte] = (counts[byte] ?? 0) + 1;
      }
      this.#countsValid = true;
    }
    return counts;
  }
}

/** Setting it makes the two cases of a letter one; that it makes others one too only weakens the index. */
const CASE_BIT = 0x20;

/** The entry that a subject has which begins with this byte: as if a byte 0 stood in front, which no subject contains. */
export function startEntry(byte: number): number {
  return pairOf(0, byte | CASE_BIT);
}

function pairOf(before: number, byte: number): number {
  return ((before << 5) ^ byte) & (PAIRS - 1);
}

/** The entries of the pair index that a subject with all of these folded texts has, the rarer ones first. */
export function pairsOf(texts: readonly string[]): Uint16Array {
  const rarity = new Map<number, number>();
  for (const text of texts) {
    if (text.length === 1) rarity.set(PAIRS + (text.charCodeAt(0) | CASE_BIT), 2 * frequency(text));
    for (let i = 1; i < text.length; i += 1) {
      const pair = pairOf(text.charCodeAt(i - 1) | CASE_BIT, text.charCodeAt(i) | CASE_BIT);
      rarity.set(pair, frequency(text.charAt(i - 1)) + frequency(text.charAt(i)));
    }
  }
  return Uint16Array.from([...rarity].sort((a, b) => a[1] - b[1]).map(([pair]) => pair));
}

/** The entries of the pair index for a byte of the first set followed by one of the second: a subject has one of them. */
export function pairsBetween(first: readonly number[], second: readonly number[]): Uint16Array {
  const pairs = first.flatMap((before) => second.map((byte) => pairOf(before | CASE_BIT, byte | CASE_BIT)));
  return Uint16Array.from(new Set(pairs));
}

/** Bytes that log lines are full of, the most frequent first; only the order of checks depends on it. */
const FREQUENT = 'e toainrsd0l1c2-u.p:mf3/g_4';

function frequency(char: string): number {
  const index = FREQUENT.indexOf(char.toLowerCase());
  return index < 0 ? 0 : FREQUENT.length - index;
}
