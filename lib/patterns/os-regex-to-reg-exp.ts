import { FOLD } from './fold-ascii.js';
import type { OsRegexCode } from './os-regex-code.js';
import { endsAt } from './os-regex-end.js';
import type { ByteTable, OsRegexElement } from './os-regex-parse.js';

/** Choice points that OS_Regex keeps (decoding.md 1.3.4): with more ambiguous repeats it forgets some. */
const MAX_AMBIGUOUS = 4;

/** What a match ends with, from which its reported end follows (decoding.md 1.3.6); `rest` is `\.*`. */
export type RegExpTail = 'byte' | 'repeat' | 'marked-repeat' | 'rest' | 'marked-rest';

/** An alternative of OS_Regex as a regular expression that gives the same wherever no doubled stop is in the subject. */
export type OsRegexForm = {
  /** To be run with the flag `y`. With a repeat at the end its last group is that repeat. */
  readonly source: string;
  readonly tail: RegExpTail;
  /** Folded bytes at each of which a repeat may or may not stop, one a repeat: how often they occur bounds the work. */
  readonly stops: readonly number[];
  /** Folded stops, twice each: with one of these texts in the subject the machine has to decide. */
  readonly doubled: readonly string[];
};

type Node = {
  readonly mark: boolean;
  readonly opens: boolean;
  readonly table: ByteTable;
  readonly quantifier: '' | '+' | '*';
  readonly literal: number | undefined;
};

/**
 * The regular form of an alternative, undefined where there is none that is exact. What is exact follows from decoding.md 1.3.4:
 *
 * - A repeat that stops at a byte outside of its class never comes back: it is greedy, and what follows takes no byte of the class.
 * - One with a literal behind it that its class accepts stops at the first such byte, and when the rest fails goes on behind it
 *   (D); after `+` the byte there is taken without a look (B.4).
 * - When the subject ends, nothing is tried again (E). That makes no difference, since a later choice never is further in the
 *   pattern than an earlier one that is still alive; but for a stop that was passed without a look, so with two of the same
 *   stops in a row the machine decides, except for the first choice of all. Where a match begins would be a choice, too:
 *   only alternatives with `^` have a form.
 * - `rep` is off outside of repeats, as repeats with a class behind them that shares bytes are only taken at the end. There the
 *   match is over with the first byte that what follows takes.
 * - Ends that the rules allow and a regular expression does not (E) rule an alternative out, and so do marks side by side (A).
 */
export function toOsRegexForm(code: OsRegexCode): OsRegexForm | undefined {
  if (!code.anchoredStart) return undefined;
  const nodes = code.elements.flatMap(nodeOf);
  if (nodes.some(({ mark }, i) => mark && nodes[i + 1]?.mark === true)) return undefined;
  return new Writer(code, nodes).write();
}

class Writer {
  readonly #code: OsRegexCode;
  readonly #nodes: readonly Node[];
  readonly #last: number;
  readonly #stops: number[] = [];
  readonly #doubled: string[] = [];

  constructor(code: OsRegexCode, nodes: readonly Node[]) {
    this.#code = code;
    this.#nodes = nodes;
    this.#last = nodes.findLastIndex(({ mark }) => !mark);
  }

  write(): OsRegexForm | undefined {
    const last = this.#nodes[this.#last];
    if (last === undefined || !this.#endsWhereItShould()) return undefined;
    if (last.quantifier === '*' && !this.#isRest()) return undefined;
    let source = '';
    for (const [i, node] of this.#nodes.entries()) {
      const text = node.mark ? (node.opens ? '(' : ')') : this.#element(node, i);
      if (text === undefined) return undefined;
      source += text;
    }
    if (this.#stops.length > MAX_AMBIGUOUS) return undefined;
    const marked = this.#last + 1 < this.#nodes.length;
    return {
      source: this.#code.anchoredEnd ? `${source}$` : source,
      tail:
        last.quantifier === '' ? 'byte' : `${marked ? 'marked-' : ''}${last.quantifier === '+' ? 'repeat' : 'rest'}`,
      stops: this.#stops,
      doubled: this.#doubled,
    };
  }

  /** Whether the rules accept the end of the subject only where all is taken. */
  #endsWhereItShould(): boolean {
    const { length } = this.#nodes;
    for (let p = 0; p <= length; p += 1) {
      const node = this.#nodes[p];
      const over = node === undefined || (node.mark && p + 1 === length) || this.#isBeforeRest(p);
      if (endsAt(this.#code, p, false) !== over) return false;
      if (node === undefined || node.quantifier === '') continue;
      if (endsAt(this.#code, p, true) !== (p === this.#last)) return false;
    }
    return true;
  }

  /** Whether nothing but the rest is to come, which may be empty: a repeat of all bytes. */
  #isBeforeRest(p: number): boolean {
    const { quantifier } = this.#nodes[this.#last] ?? {};
    return quantifier === '*' && (p === this.#last || (p + 1 === this.#last && this.#nodes[p]?.mark === true));
  }

  /** Whether the pattern ends with a repeat of all bytes, behind what takes at least a byte: that tells the end of the match. */
  #isRest(): boolean {
    const before = this.#nodes.slice(0, this.#last).findLast(({ mark }) => !mark);
    return before !== undefined && before.quantifier !== '*' && this.#nodes[this.#last]?.table.includes(0) === false;
  }

  #element(node: Node, i: number): string | undefined {
    const { table, quantifier } = node;
    if (quantifier === '') return setText(table);
    if (i === this.#last) {
      const grouped = this.#nodes[i - 1]?.mark === true && this.#nodes[i + 1]?.mark === true;
      return grouped ? setText(table) + quantifier : `(${setText(table)}${quantifier})`;
    }
    const next = this.#following(i);
    if (this.#isLeftOnce(table, next)) return setText(table) + quantifier;
    const follower = this.#nodes[next];
    if (follower === undefined) return undefined;
    const endsThere = next === this.#last && follower.quantifier === '' && !this.#code.anchoredEnd;
    if (endsThere) return this.#upTo(table, quantifier, follower.table);
    return follower.literal === undefined ? undefined : this.#stopping(table, quantifier, follower.literal);
  }

  /** The element behind a node, and a mark that may stand between. */
  #following(i: number): number {
    return this.#nodes[i + 1]?.mark === true ? i + 2 : i + 1;
  }

  /** Whether no byte of the class can be taken by what follows. */
  #isLeftOnce(table: ByteTable, next: number): boolean {
    for (let i = next; ; i = this.#following(i)) {
      const node = this.#nodes[i];
      if (node === undefined || node.table.some((accepted, byte) => accepted === 1 && table[byte] === 1)) return false;
      if (node.quantifier !== '*') return true;
    }
  }

  /** A repeat with a literal behind it that it accepts: it may stop at each of them. */
  #stopping(table: ByteTable, quantifier: '+' | '*', literal: number): string {
    const stop = literalTable(literal);
    if (quantifier === '+' && this.#stops.length > 0) this.#doubled.push(String.fromCharCode(literal, literal));
    this.#stops.push(literal);
    const others = `${setText(minus(table, stop))}*`;
    const taken = quantifier === '+' ? setText(table) : '';
    return `${taken}${others}(?:${setText(stop)}${taken}${others})*?`;
  }

  /** A repeat with a byte behind it that ends the match: the first one that is accepted. */
  #upTo(table: ByteTable, quantifier: '+' | '*', end: ByteTable): string {
    return `${quantifier === '+' ? setText(table) : ''}${setText(minus(table, end))}*`;
  }
}

function nodeOf(element: OsRegexElement): Node[] {
  switch (element.kind) {
    case 'quantifier':
      return [];
    case 'mark':
      return [{ mark: true, opens: element.number % 2 === 0, table: NO_BYTES, quantifier: '', literal: undefined }];
    case 'literal': {
      const table = literalTable(element.byte);
      return [{ mark: false, opens: false, table, quantifier: '', literal: element.byte }];
    }
    case 'class': {
      const { table, quantifier } = element;
      return [{ mark: false, opens: false, table, quantifier, literal: undefined }];
    }
  }
}

const NO_BYTES: ByteTable = new Uint8Array(256);

function literalTable(folded: number): ByteTable {
  return FOLD.map((byte) => (byte === folded ? 1 : 0));
}

function minus(table: ByteTable, other: ByteTable): ByteTable {
  return table.map((accepted, byte) => (other[byte] === 1 ? 0 : accepted));
}

/** A set of bytes in the words of a regular expression; an empty one matches nothing. */
function setText(table: ByteTable): string {
  let text = '';
  for (let byte = 0; byte < 256; byte += 1) {
    if (table[byte] !== 1) continue;
    const from = byte;
    while (table[byte + 1] === 1) byte += 1;
    text += from === byte ? hex(from) : `${hex(from)}-${hex(byte)}`;
  }
  return `[${text}]`;
}

function hex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
