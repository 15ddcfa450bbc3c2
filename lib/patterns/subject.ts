import { FOLD } from './fold-ascii.js';

/** Smallest buffers, in bytes; most log lines fit. */
const INITIAL_SIZE = 1024;
/** Buffers larger than this (bytes) are given back when a smaller subject follows. */
const KEPT_SIZE = 128 * 1024;

/** Kinds of bytes that the pair index tells apart; a power of two. */
const KINDS = 64;
const PAIRS = KINDS * KINDS;

/** Folded byte to its kind: letters, digits and frequent punctuation have one of their own, the rest share. */
const KIND: Uint8Array = kinds();

/**
 * A subject as the matchers look at it: folded bytes, and an index of the pairs of neighbouring bytes it contains.
 * Hundreds of patterns look at one subject; most of them need a text that is not there, and the index says so in a few
 * nanoseconds, without a search.
 */
export class Subject {
  text = '';
  length = 0;
  /** Folded bytes; entries from `length` on are old. */
  folded: Uint8Array = new Uint8Array(INITIAL_SIZE);
  /** Whether a byte above 0x7f occurs. */
  high = false;
  #raw: Uint8Array = new Uint8Array(0);
  #rawValid = false;
  #foldedText: string | undefined = undefined;
  readonly #counts = new Uint32Array(256);
  #countsValid = false;
  /** Round in which a pair (or, behind the pairs, a kind alone) was last seen; current = `#round`. */
  readonly #seen = new Uint32Array(PAIRS + KINDS);
  #round = 0;

  /** Takes over a byte string. */
  load(text: string): void {
    const length = text.length;
    if (length > this.folded.length || (this.folded.length > KEPT_SIZE && length < INITIAL_SIZE)) {
      this.folded = new Uint8Array(Math.max(INITIAL_SIZE, length + (length >> 1)));
    }
    this.text = text;
    this.length = length;
    this.#foldedText = undefined;
    this.#rawValid = false;
    this.#countsValid = false;
    this.#round = (this.#round + 1) >>> 0;
    if (this.#round === 0) {
      this.#seen.fill(0);
      this.#round = 1;
    }
    const round = this.#round;
    const seen = this.#seen;
    const folded = this.folded;
    let all = 0;
    let previous = 0;
    for (let i = 0; i < length; i += 1) {
      const byte = FOLD[text.charCodeAt(i) & 0xff] ?? 0;
      all |= byte;
      folded[i] = byte;
      const kind = KIND[byte] ?? 0;
      if (i > 0) seen[previous * KINDS + kind] = round;
      seen[PAIRS + kind] = round;
      previous = kind;
    }
    this.high = all > 0x7f;
  }

  /** False = at least one of the pairs (`pairsOf` a literal) does not occur, so that the literal does not either. */
  mayContain(pairs: Uint16Array): boolean {
    const seen = this.#seen;
    const round = this.#round;
    for (const pair of pairs) if (seen[pair] !== round) return false;
    return true;
  }

  /** The subject with ASCII letters lower-cased. */
  get foldedText(): string {
    this.#foldedText ??= this.high
      ? Buffer.from(this.folded.buffer, 0, this.length).toString('latin1')
      : this.text.toLowerCase();
    return this.#foldedText;
  }

  /** How often each byte occurs, unfolded. */
  get counts(): Uint32Array {
    const counts = this.#counts;
    if (!this.#countsValid) {
      counts.fill(0);
      const { raw, length } = this;
      for (let i = 0; i < length; i += 1) {
        const byte = raw[i] ?? 0;
        counts[byte] = (counts[byte] ?? 0) + 1;
      }
      this.#countsValid = true;
    }
    return counts;
  }

  /** The bytes as they came; entries from `length` on are old. */
  get raw(): Uint8Array {
    if (!this.#rawValid) {
      if (this.#raw.length !== this.folded.length) this.#raw = new Uint8Array(this.folded.length);
      const { text, length } = this;
      const raw = this.#raw;
      for (let i = 0; i < length; i += 1) raw[i] = text.charCodeAt(i);
      this.#rawValid = true;
    }
    return this.#raw;
  }
}

/** The entries of the pair index that a subject with all of these folded texts has, the rarer ones first. */
export function pairsOf(texts: readonly string[]): Uint16Array {
  const pairs = new Set<number>();
  for (const text of texts) {
    if (text.length === 1) pairs.add(PAIRS + kindAt(text, 0));
    for (let i = 1; i < text.length; i += 1) pairs.add(kindAt(text, i - 1) * KINDS + kindAt(text, i));
  }
  return Uint16Array.from([...pairs].sort((a, b) => commonness(a) - commonness(b)));
}

function kindAt(text: string, index: number): number {
  return KIND[FOLD[text.charCodeAt(index) & 0xff] ?? 0] ?? 0;
}

/** Bytes that log lines are full of, the most frequent first; only the order of checks depends on it. */
const FREQUENT = 'e toainrsd0l1c2-u.p:mf3/g_4';

function commonness(pair: number): number {
  return pair < PAIRS ? frequency(pair >> 6) + frequency(pair % KINDS) : 2 * frequency(pair - PAIRS);
}

function frequency(kind: number): number {
  for (let i = 0; i < FREQUENT.length; i += 1) if (kindAt(FREQUENT, i) === kind) return FREQUENT.length - i;
  return 0;
}

function kinds(): Uint8Array {
  const own = 'abcdefghijklmnopqrstuvwxyz0123456789 .-_:/=,;()[]<>"\'\\%@#$&*+?!{}';
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const index = own.indexOf(String.fromCharCode(FOLD[byte] ?? byte));
    return index < 0 ? KINDS - 1 : Math.min(index, KINDS - 1);
  });
}
