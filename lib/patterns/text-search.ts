import { FOLD } from './fold-ascii.js';
import type { Subject } from './subject.js';

/** The state in which nothing of a text is found. */
const ROOT = 0;

/** Looks for many texts in one pass through a subject, as Aho and Corasick do it. */
export class TextSearch {
  /**
   * By text: offset behind its first occurrence in the subject that was looked through last, -1 where there is none. There is one entry more,
   * which is always 0.
   */
  readonly ends: Int32Array;
  readonly #count: number;
  /** By byte: its number among those that texts have, without regard to case; 0 for all others. */
  readonly #classes: Uint8Array;
  readonly #classCount: number;
  /** By state and class: the next state. States behind a text come last. */
  readonly #table: Uint16Array;
  readonly #firstFound: number;
  /** By state from `firstFound` on: the texts that end there, the longest first. */
  readonly #found: readonly (readonly number[])[];

  /** @param texts folded byte strings, none of them empty, of less than 65,536 bytes together */
  constructor(texts: readonly string[]) {
    this.#count = texts.length;
    this.ends = new Int32Array(texts.length + 1);
    this.#classes = new Uint8Array(256);
    this.#classCount = numberBytes(this.#classes, texts);
    const states = statesOf(texts);
    const last = states.filter(({ found }) => found.length > 0);
    const order = [...states.filter(({ found }) => found.length === 0), ...last];
    for (const [number, state] of order.entries()) state.number = number;
    this.#table = new Uint16Array(order.length * this.#classCount);
    // The states come in the order of their depth: what a shorter beginning leads to is known.
    for (const { number, next, shorter } of states) {
      const row = number * this.#classCount;
      const known = shorter === undefined ? row : shorter.number * this.#classCount;
      this.#table.copyWithin(row, known, known + this.#classCount);
      for (const [byte, state] of next) this.#table[row + (this.#classes[byte] ?? 0)] = state.number;
    }
    this.#firstFound = order.length - last.length;
    this.#found = last.map(({ found }) => found);
  }

  /** Looks through a subject; it takes about a nanosecond a byte. */
  look({ bytes, length }: Subject): void {
    const classes = this.#classes;
    const classCount = this.#classCount;
    const table = this.#table;
    const firstFound = this.#firstFound;
    this.ends.fill(-1, 0, this.#count);
    let state = ROOT;
    for (let i = 0; i < length; i += 1) {
      state = table[state * classCount + (classes[bytes[i] ?? 0] ?? 0)] ?? ROOT;
      if (state >= firstFound) this.#find(state, i + 1);
    }
  }

  #find(state: number, end: number): void {
    const { ends } = this;
    for (const text of this.#found[state - this.#firstFound] ?? []) {
      // Shorter ones that end here were found with it.
      if (ends[text] !== -1) return;
      ends[text] = end;
    }
  }
}

/** What of a text has been found: all or a beginning of it. */
type State = {
  number: number;
  /** By folded byte. */
  readonly next: Map<number, State>;
  /** The state of the longest end of it with which a text begins. */
  shorter: State | undefined;
  readonly found: number[];
};

/** Numbers the bytes of texts from 1 on, the two cases of a letter alike. Answers how many numbers there are, with 0. */
function numberBytes(classes: Uint8Array, texts: readonly string[]): number {
  const bytes = [...new Set(Buffer.from(texts.join(''), 'latin1'))];
  for (let byte = 0; byte < 256; byte += 1) classes[byte] = bytes.indexOf(FOLD[byte] ?? 0) + 1;
  return bytes.length + 1;
}

/** The states for texts in the order of their depth, the root first. */
function statesOf(texts: readonly string[]): readonly State[] {
  const root = newState();
  for (const [text, bytes] of texts.map((each) => Buffer.from(each, 'latin1')).entries()) {
    let state = root;
    for (const byte of bytes) {
      const next = state.next.get(byte) ?? newState();
      state.next.set(byte, next);
      state = next;
    }
    state.found.push(text);
  }
  const states = [root];
  for (const state of states) {
    for (const [byte, next] of state.next) {
      let shorter = state.shorter;
      while (shorter !== undefined && !shorter.next.has(byte)) shorter = shorter.shorter;
      next.shorter = shorter?.next.get(byte) ?? root;
      next.found.push(...next.shorter.found);
      states.push(next);
    }
  }
  return states;
}

function newState(): State {
  return { number: ROOT, next: new Map<number, State>(), shorter: undefined, found: [] };
}
