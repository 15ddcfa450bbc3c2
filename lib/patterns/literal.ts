import { FOLD } from './fold-ascii.js';
import type { Requirement } from './requirement.js';
import { pairsOf, type Subject } from './subject.js';

const EMPTY = 0;
const STARTS = 1;
const ENDS = 2;
const EQUALS = 3;
const CONTAINS = 4;

/** A plain text that a subject has to start with, end with, equal or contain, compared case-insensitively. */
export class Literal {
  readonly #kind: number;
  readonly #text: string;
  readonly #bytes: Uint8Array;
  readonly #pairs: Uint16Array;
  /** What a subject has in which the text is found. */
  readonly requirement: Requirement;

  /** @param text folded byte string */
  constructor(text: string, start: boolean, end: boolean) {
    this.#kind = start ? (end ? EQUALS : STARTS) : end ? ENDS : text === '' ? EMPTY : CONTAINS;
    this.#text = text;
    this.#bytes = Buffer.from(text, 'latin1');
    this.#pairs = pairsOf([text]);
    const first = start ? this.#bytes[0] : undefined;
    const table = first === undefined ? undefined : FOLD.map((byte) => (byte === first ? 1 : 0));
    this.requirement = { pairs: this.#pairs, start: table };
  }

  /** Offset behind the first match, or -1. */
  find(subject: Subject): number {
    const kind = this.#kind;
    if (kind === CONTAINS) {
      if (!subject.mayContain(this.#pairs)) return -1;
      const index = subject.foldedText.indexOf(this.#text);
      return index < 0 ? -1 : index + this.#bytes.length;
    }
    const bytes = this.#bytes;
    const start = subject.length - bytes.length;
    if (start < 0 || (kind === EQUALS && start !== 0)) return -1;
    const from = kind === ENDS ? start : 0;
    const all = subject.bytes;
    for (let i = 0; i < bytes.length; i += 1) if (FOLD[all[from + i] ?? 0] !== bytes[i]) return -1;
    return from + bytes.length;
  }
}
