import { endianness } from 'node:os';
import { foldAscii } from './fold-ascii.js';

/** Smallest buffer, in bytes, a multiple of 4 as all are; most log lines fit. */
const INITIAL_SIZE = 2048;
/** A larger buffer than this (bytes) is given back when a small subject follows. */
const KEPT_SIZE = 128 * 1024;

/** Subjects shorter than this (bytes) are not looked at closely to tell what work on them costs. */
export const SHORT = 256;

/** Subjects from this length on (bytes) have their bytes counted to tell what searches take. */
const COUNTED = 1024;

/** Equals no subject: they have no NUL. */
const FORGOTTEN = '\0';

/** Occurrences of a text that are counted. */
const MAX_COUNTED = 100;

/**
 * The index: entries for pairs of neighbouring bytes, for single bytes, one that every subject has, and entries for three bytes
 * in a row. Numbers of pairs and of threes are powers of two.
 */
const PAIRS = 4096;
export const ALWAYS = PAIRS + 256;
const THREES = 8192;
const FIRST_THREE = ALWAYS + 1;

/** Four bytes are looked at as one number, the first of them in its low bits. */
const IN_WORDS = endianness() === 'LE';

/**
 * A subject as the matchers look at it: its bytes, and an index of the bytes it contains and of two and three of them in a row.
 * Hundreds of patterns look at one subject; most of them need a text that is not there, and the index says so in a few
 * nanoseconds, without a search.
 */
export class Subject {
  text = '';
  length = 0;
  /** The bytes; entries from `length` on are old. */
  bytes = new Uint8Array(INITIAL_SIZE);
  #buffer = Buffer.from(this.bytes.buffer);
  #words = new Int32Array(this.bytes.buffer);
  #hasHighByte = false;
  #foldedText: string | undefined = undefined;
  readonly #counts = new Uint32Array(256);
  #countsValid = false;
  /** Bytes passed in looking at the subject closely, in all; whoever asks for it takes steps for it. */
  lookedAt = 0;
  readonly #longestRuns = new Map<Uint8Array, number>();
  /** Round (1..255) in which an entry of the index was last seen; those of this subject have the current one. */
  readonly seen = new Uint8Array(FIRST_THREE + THREES);
  round = 1;

  constructor() {
    this.#index();
  }

  /** Takes over a byte string. */
  load(text: string): void {
    const length = text.length;
    if (length > this.bytes.length || (this.bytes.length > KEPT_SIZE && length < INITIAL_SIZE)) {
      this.bytes = new Uint8Array(Math.max(INITIAL_SIZE, (length + (length >> 1) + 3) & ~3));
      this.#buffer = Buffer.from(this.bytes.buffer);
      this.#words = new Int32Array(this.bytes.buffer);
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
    seen[ALWAYS] = this.round;
    const words = IN_WORDS ? this.length >> 2 : 0;
    const high = this.#indexWords(words) | this.#indexBytes(words << 2);
    this.#hasHighByte = (high & HIGH_BITS) !== 0;
  }

  /** Indexes so many words of four bytes. @returns them all together */
  #indexWords(count: number): number {
    const { seen, round } = this;
    const words = this.#words;
    let all = 0;
    // The two bytes before those at hand.
    let c = 0;
    let d = 0;
    for (let i = 0; i < count; i += 1) {
      const raw = words[i] ?? 0;
      all |= raw;
      const word = raw | CASE_BITS;
      const a = word & 0xff;
      let pair = (d << 5) ^ a;
      seen[pair & (PAIRS - 1)] = round;
      seen[PAIRS + a] = round;
      seen[FIRST_THREE + (((c << 10) ^ pair) & (THREES - 1))] = round;
      const b = (word >> 8) & 0xff;
      pair = (a << 5) ^ b;
      seen[pair & (PAIRS - 1)] = round;
      seen[PAIRS + b] = round;
      seen[FIRST_THREE + (((d << 10) ^ pair) & (THREES - 1))] = round;
      c = (word >> 16) & 0xff;
      pair = (b << 5) ^ c;
      seen[pair & (PAIRS - 1)] = round;
      seen[PAIRS + c] = round;
      seen[FIRST_THREE + (((a << 10) ^ pair) & (THREES - 1))] = round;
      d = word >>> 24;
      pair = (c << 5) ^ d;
      seen[pair & (PAIRS - 1)] = round;
      seen[PAIRS + d] = round;
      seen[FIRST_THREE + (((b << 10) ^ pair) & (THREES - 1))] = round;
    }
    return all;
  }

  /** Indexes the bytes from one on. @returns them all together */
  #indexBytes(from: number): number {
    const { seen, round, bytes, length } = this;
    let all = 0;
    let earlier = from < 2 ? 0 : (bytes[from - 2] ?? 0) | CASE_BIT;
    let before = from < 1 ? 0 : (bytes[from - 1] ?? 0) | CASE_BIT;
    for (let i = from; i < length; i += 1) {
      const raw = bytes[i] ?? 0;
      all |= raw;
      const byte = raw | CASE_BIT;
      seen[pairOf(before, byte)] = round;
      seen[PAIRS + byte] = round;
      seen[threeOf(earlier, before, byte)] = round;
      earlier = before;
      before = byte;
    }
    return all;
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
    return this.#hasHighByte;
  }

  /** The subject with ASCII letters lower-cased. */
  get foldedText(): string {
    this.#foldedText ??= IN_WORDS ? foldWords(this.#words, this.length) : foldAscii(this.text);
    return this.#foldedText;
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
    // To count would take longer than most of its searches.
    if (length < COUNTED) return 1 + (length >> 3);
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
const CASE_BITS = 0x20_20_20_20;
const HIGH_BITS = 0x80_80_80_80;

let folded = new Int32Array(INITIAL_SIZE / 4);

/** A text of so many bytes with ASCII letters lower-cased, four bytes at once. */
function foldWords(words: Int32Array, length: number): string {
  const count = (length + 3) >> 2;
  if (count > folded.length || (folded.length > KEPT_SIZE / 4 && count < INITIAL_SIZE / 4)) {
    folded = new Int32Array(Math.max(INITIAL_SIZE / 4, count));
  }
  for (let i = 0; i < count; i += 1) {
    const word = words[i] ?? 0;
    const low = word & ~HIGH_BITS;
    // In the high bit of each byte: whether it is at least an A, and whether it is above a Z.
    const capitals = (low + 0x3f_3f_3f_3f) ^ (low + 0x25_25_25_25);
    folded[i] = word | ((capitals & ~word & HIGH_BITS) >>> 2);
  }
  return Buffer.from(folded.buffer, 0, length).toString('latin1');
}

/** The entry that a subject has which begins with this byte: as if a byte 0 stood in front, which no subject contains. */
export function startEntry(byte: number): number {
  return pairOf(0, byte | CASE_BIT);
}

function pairOf(before: number, byte: number): number {
  return ((before << 5) ^ byte) & (PAIRS - 1);
}

function threeOf(earlier: number, before: number, byte: number): number {
  return FIRST_THREE + (((earlier << 10) ^ (before << 5) ^ byte) & (THREES - 1));
}

/** Entries that are put in order one by one, without memory for each: most patterns have as few. */
const FEW_ENTRIES = 48;
const fewEntries = new Uint16Array(FEW_ENTRIES);
const fewRanks = new Float64Array(FEW_ENTRIES);

/** The entries of the index that a subject with all of these folded texts has, the rarer ones first. */
export function pairsOf(texts: readonly string[]): Uint16Array {
  let most = 0;
  for (const text of texts) most += text.length;
  if (most > FEW_ENTRIES) return manyPairsOf(texts);
  let count = 0;
  for (const text of texts) {
    const size = partSize(text);
    for (let end = size; size > 0 && end <= text.length; end += 1) {
      const entry = entryOf(text, end - size, size);
      const rank = rankOf(text, end - size, size);
      if (isAmongFew(entry, count)) continue;
      let at = count;
      for (; at > 0 && (fewRanks[at - 1] ?? 0) > rank; at -= 1) {
        fewEntries[at] = fewEntries[at - 1] ?? 0;
        fewRanks[at] = fewRanks[at - 1] ?? 0;
      }
      fewEntries[at] = entry;
      fewRanks[at] = rank;
      count += 1;
    }
  }
  return fewEntries.slice(0, count);
}

function isAmongFew(entry: number, count: number): boolean {
  for (let at = 0; at < count; at += 1) if (fewEntries[at] === entry) return true;
  return false;
}

function manyPairsOf(texts: readonly string[]): Uint16Array {
  const ranks = new Map<number, number>();
  for (const text of texts) {
    const size = partSize(text);
    for (let end = size; size > 0 && end <= text.length; end += 1) {
      const entry = entryOf(text, end - size, size);
      if (!ranks.has(entry)) ranks.set(entry, rankOf(text, end - size, size));
    }
  }
  return Uint16Array.from([...ranks].sort((a, b) => a[1] - b[1]).map(([entry]) => entry));
}

/** Pairs in a text of three bytes or more say little that the threes do not. */
function partSize({ length }: string): number {
  return Math.min(3, length);
}

function entryOf(text: string, from: number, size: number): number {
  const a = text.charCodeAt(from) | CASE_BIT;
  if (size === 1) return PAIRS + a;
  const b = text.charCodeAt(from + 1) | CASE_BIT;
  return size === 2 ? pairOf(a, b) : threeOf(a, b, text.charCodeAt(from + 2) | CASE_BIT);
}

/** How frequent the bytes are, on average. */
function rankOf(text: string, from: number, size: number): number {
  let sum = 0;
  for (let at = from; at < from + size; at += 1) sum += FREQUENCIES[text.charCodeAt(at)] ?? 0;
  return sum / size;
}

/** The entries of the index for a byte of the first set followed by one of the second: a subject has one of them. */
export function pairsBetween(first: readonly number[], second: readonly number[]): Uint16Array {
  const pairs = first.flatMap((before) => second.map((byte) => pairOf(before | CASE_BIT, byte | CASE_BIT)));
  return Uint16Array.from(new Set(pairs));
}

/** Bytes that log lines are full of, the most frequent first; only the order of checks depends on it. */
const FREQUENT = 'e toainrsd0l1c2-u.p:mf3/g_4';

/** By byte: 0 for all others. */
const FREQUENCIES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const index = FREQUENT.indexOf(String.fromCharCode(byte).toLowerCase());
  return index < 0 ? 0 : FREQUENT.length - index;
});
