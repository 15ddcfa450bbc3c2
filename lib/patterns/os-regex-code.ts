import { FOLD } from './fold-ascii.js';
import { type ByteTable, NEVER, type OsRegexAlternative, type OsRegexElement, parseOsRegex } from './os-regex-parse.js';
import { pairsOf } from './subject.js';

/** Kinds of nodes; a class and its quantifier are one node. */
export const LITERAL = 0;
export const CLASS = 1;
export const PLUS = 2;
export const STAR = 3;
export const MARK = 4;

/** What a byte means to a repeat that has been entered (rule B.3): entries of its table. */
export const OUTSIDE = 0;
/** In the class, and no decision: the repeat goes on. */
export const STAY = 1;
/** In the class, and nothing follows the repeat. */
export const LAST = 2;
/** Both the repeat and the class behind it take the byte. */
export const MOVE = 3;
/** The byte is the literal behind the repeat, which is left. */
export const LEAVE = 4;

/** Numbers that a node has in the program of an alternative, and where they stand. */
export const NODE_SIZE = 5;
/** Behind the kind: folded byte of a LITERAL, `(` for a MARK, else number of the table among `ALL_TABLES`. */
export const VALUE = 1;
/** See `markNumbers`. */
export const MARK_NUMBER = 2;
/** See `targets`: the number of a node, as where it stands in a long pattern is beyond 16 bits. */
export const TARGET = 3;
/** See `tails`. */
export const TAIL = 4;

/**
 * One alternative as flat tables, one entry a node, so that the machine follows decoding.md 1.3.4 without looking ahead:
 * what stands behind a repeat is worked into the repeat's table.
 */
export type OsRegexCode = {
  /** All that the machine needs of the nodes, NODE_SIZE numbers each, in one piece: what is run once in a while is seldom in the processor's cache. */
  readonly program: Int16Array;
  readonly length: number;
  readonly elements: readonly OsRegexElement[];
  readonly kinds: Uint8Array;
  /** Folded byte of a LITERAL; a MARK has `(`, because the second of two marks is taken as that byte. */
  readonly bytes: Uint16Array;
  /** By byte, the same for both cases of a letter: 0 or 1 for a CLASS, OUTSIDE.. for a PLUS or STAR. */
  readonly tables: readonly ByteTable[];
  /** Number of a MARK; for a PLUS or STAR that of the mark directly behind it; or -1. */
  readonly markNumbers: Int16Array;
  /** Node after MOVE or LEAVE. */
  readonly targets: Uint16Array;
  /** 1 = a class where rule B'.1 may end the match. */
  readonly tails: Uint8Array;
  readonly marks: number;
  readonly anchoredStart: boolean;
  readonly anchoredEnd: boolean;
  /** Literals the alternative begins with, as text (folded); a restart searches for it. May be empty. */
  readonly prefix: string;
  /** The same with classes of a single byte; only while no repeat is under way, since a class ends one when it fails. */
  readonly longPrefix: string;
  /**
   * Where there is no prefix: a text (folded) that stands at `innerOffset` of each match, behind bytes of unrepeated classes. May be empty.
   * Only while no repeat is under way.
   */
  readonly inner: string;
  readonly innerOffset: number;
  /** Number of the first node of the prefixes: 1 behind a mark. */
  readonly firstNode: number;
  /** With `^`: bytes with which a subject that is not empty has to begin; undefined where a STAR is in front. */
  readonly start: ByteTable | undefined;
  /** Whether a mark stands in front of everything. */
  readonly headMark: boolean;
  /** Where no prefix: bytes the first class accepts, if the scan can skip all others; else undefined. */
  readonly head: ByteTable | undefined;
  /** Whether `head` belongs to a PLUS, and may be used only while no repeat is under way. */
  readonly headRepeats: boolean;
  /** Whether restarts or choice points can make the work more than linear: up to about n^4 (decoding.md 1.3.5). */
  readonly branching: boolean;
  /** Folded texts that every subject of a match contains. */
  readonly texts: readonly string[];
  /** Pairs (see `Subject.mayContain`) of the literals that no match goes without. */
  readonly pairs: Uint16Array;
};

/** An alternative without classes and groups: plain text. */
export type OsRegexText = { readonly text: string; readonly anchoredStart: boolean; readonly anchoredEnd: boolean };

/** What is known of an alternative before `codeOf` makes its code: most of those of a large ruleset are never run. */
export type OsRegexDraft = OsRegexAlternative & Pick<OsRegexCode, 'texts' | 'pairs' | 'start'>;

/**
 * The alternatives of an OS_Regex, without those that can never match.
 * @throws PatternError see `parseOsRegex`
 */
export function draftOsRegex(source: string): (OsRegexDraft | OsRegexText)[] {
  const drafts: (OsRegexDraft | OsRegexText)[] = [];
  for (const alternative of parseOsRegex(source)) {
    const { elements, anchoredStart, anchoredEnd } = alternative;
    const required = requiredTexts(elements);
    if (required === undefined) continue;
    if (elements.every(({ kind }) => kind === 'literal')) {
      const text = required.join('');
      // `$` alone fails by rule D at any byte, so that it only matches the empty subject.
      drafts.push({ text, anchoredStart: anchoredStart || (text === '' && anchoredEnd), anchoredEnd });
    } else {
      const start = anchoredStart ? startOf(elements) : undefined;
      drafts.push({ ...alternative, texts: required, pairs: pairsOf(required), start });
    }
  }
  return drafts;
}

/** Bytes that the first element behind a mark accepts, if it is there in every match. */
function startOf(elements: readonly OsRegexElement[]): ByteTable | undefined {
  const first = elements[elements[0]?.kind === 'mark' ? 1 : 0];
  if (first?.kind === 'literal') return LITERAL_TABLES[first.byte];
  return first?.kind === 'class' && first.quantifier !== '*' ? first.table : undefined;
}

/** Longest text that a restart searches for (bytes): V8's search takes the product of both lengths for long ones of few letters. */
export const MAX_PREFIX = 64;
/** Shortest text that is searched for behind classes. */
const MIN_INNER = 3;

type NodeSource = { readonly element: OsRegexElement; readonly repeat: boolean };

/** The code of an alternative. */
export function codeOf(draft: OsRegexDraft): OsRegexCode {
  const { elements, marks, anchoredStart, anchoredEnd, texts, pairs, start } = draft;
  const nodes: NodeSource[] = [];
  for (const element of elements) {
    if (element.kind === 'quantifier') continue;
    nodes.push({ element, repeat: element.kind === 'class' && element.quantifier !== '' });
  }
  const length = nodes.length;
  const kinds = new Uint8Array(length);
  const bytes = new Uint16Array(length);
  const tables: ByteTable[] = new Array<ByteTable>(length).fill(NOTHING);
  const markNumbers = new Int16Array(length).fill(-1);
  const targets = new Uint16Array(length);
  const tails = new Uint8Array(length);
  nodes.forEach(({ element, repeat }, index) => {
    const following = nodes[index + 1];
    if (element.kind === 'class') {
      kinds[index] = repeat ? (element.quantifier === '+' ? PLUS : STAR) : CLASS;
      const singleFollows = following !== undefined && following.element.kind !== 'class' && index + 2 === length;
      tails[index] = index + 1 === length || (!repeat && singleFollows) ? 1 : 0;
      if (!repeat) {
        tables[index] = element.table;
        return;
      }
      const mark = following?.element.kind === 'mark' ? following.element.number : -1;
      markNumbers[index] = mark;
      const n = index + (mark < 0 ? 1 : 2);
      const next = nodes[n];
      tables[index] = repeatTable(element.table, next?.element);
      targets[index] = next?.repeat === true ? n : n + 1;
    } else {
      kinds[index] = element.kind === 'mark' ? MARK : LITERAL;
      bytes[index] = element.kind === 'mark' ? 0x28 : element.byte;
      if (element.kind === 'mark') markNumbers[index] = element.number;
    }
  });
  const headMark = kinds[0] === MARK;
  const firstNode = headMark ? 1 : 0;
  const prefix = textFrom(nodes, firstNode, false);
  const firstTable = kinds[firstNode] === LITERAL ? LITERAL_TABLES[bytes[firstNode] ?? NEVER] : tables[firstNode];
  const known = kinds[firstNode] === LITERAL || kinds[firstNode] === CLASS || kinds[firstNode] === PLUS;
  // What the machine looks at stands together.
  return {
    program: programOf(kinds, bytes, tables, markNumbers, targets, tails),
    length,
    marks,
    anchoredStart,
    anchoredEnd,
    prefix,
    longPrefix: prefix === '' ? '' : textFrom(nodes, firstNode, true),
    ...(prefix === '' && !anchoredStart ? innerText(nodes) : { inner: '', innerOffset: 0 }),
    firstNode,
    headMark,
    head: known && !anchoredStart && prefix === '' ? firstTable : undefined,
    headRepeats: kinds[firstNode] === PLUS,
    start,
    elements,
    kinds,
    bytes,
    tables,
    markNumbers,
    targets,
    tails,
    branching: kinds.some((kind, index) => isRepeat(kind) && (!anchoredStart || movesOn(tables[index]))),
    texts,
    pairs,
  };
}

/** The text of the nodes from one on, as far as they are literals (with `classes` also classes of a single byte). */
function textFrom(nodes: readonly NodeSource[], from: number, classes: boolean): string {
  let text = '';
  for (const { element, repeat } of nodes.slice(from, from + MAX_PREFIX)) {
    const byte = element.kind === 'literal' ? element.byte : classes && !repeat ? singleByte(element) : undefined;
    if (byte === undefined || byte === NEVER) break;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The longest text among the unrepeated elements that an alternative begins with, and how many bytes stand before it. */
function innerText(nodes: readonly NodeSource[]): { readonly inner: string; readonly innerOffset: number } {
  const lastLiteral = nodes.findLastIndex(({ element }) => element.kind === 'literal');
  let inner = '';
  let innerOffset = 0;
  let text = '';
  let offset = 0;
  for (const [index, { element, repeat }] of nodes.slice(0, lastLiteral + 1).entries()) {
    if (repeat || offset === MAX_PREFIX || (element.kind === 'mark' && nodes[index - 1]?.element.kind === 'mark')) {
      break;
    }
    if (element.kind === 'mark') continue;
    const byte = element.kind === 'literal' ? element.byte : singleByte(element);
    text = byte === undefined ? '' : text + String.fromCharCode(byte);
    offset += 1;
    if (text.length > inner.length) {
      inner = text;
      innerOffset = offset - text.length;
    }
  }
  return inner.length < MIN_INNER ? { inner: '', innerOffset: 0 } : { inner, innerOffset };
}

/** The byte of an unrepeated class that accepts no other. */
function singleByte(element: OsRegexElement): number | undefined {
  if (element.kind !== 'class' || element.quantifier !== '') return undefined;
  const byte = element.table.indexOf(1);
  return element.table.indexOf(1, byte + 1) < 0 ? byte : undefined;
}

/** By folded byte: the table of a literal; NEVER has an empty one. */
export const LITERAL_TABLES: readonly ByteTable[] = Array.from({ length: NEVER + 1 }, (_, folded) =>
  FOLD.map((byte) => (byte === folded ? 1 : 0)),
);

function isRepeat(kind: number): boolean {
  return kind === PLUS || kind === STAR;
}

function movesOn(table: ByteTable | undefined): boolean {
  return table?.some((decision) => decision === MOVE || decision === LEAVE) === true;
}

function programOf(
  kinds: Uint8Array,
  bytes: Uint16Array,
  tables: readonly ByteTable[],
  markNumbers: Int16Array,
  targets: Uint16Array,
  tails: Uint8Array,
): Int16Array {
  const program = new Int16Array(NODE_SIZE * kinds.length);
  for (const [p, kind] of kinds.entries()) {
    const node = NODE_SIZE * p;
    program[node] = kind;
    program[node + VALUE] = kind === LITERAL || kind === MARK ? (bytes[p] ?? 0) : tableNumber(tables[p] ?? NOTHING);
    program[node + MARK_NUMBER] = markNumbers[p] ?? -1;
    program[node + TARGET] = targets[p] ?? 0;
    program[node + TAIL] = tails[p] ?? 0;
  }
  return program;
}

/** The bytes of all tables that programs use, 256 each: some 4000 tables at most, as there are few classes. */
export const ALL_TABLES = { bytes: new Uint8Array(64 * 256) };
const TABLE_NUMBERS = new Map<ByteTable, number>();

function tableNumber(table: ByteTable): number {
  let number = TABLE_NUMBERS.get(table);
  if (number === undefined) {
    number = TABLE_NUMBERS.size;
    TABLE_NUMBERS.set(table, number);
    const { bytes } = ALL_TABLES;
    if (bytes.length < 256 * (number + 1)) {
      ALL_TABLES.bytes = new Uint8Array(2 * bytes.length);
      ALL_TABLES.bytes.set(bytes);
    }
    ALL_TABLES.bytes.set(table, 256 * number);
  }
  return number;
}

const NOTHING: ByteTable = new Uint8Array(256);

/** Every table made, by class and by what follows: some 2000 at most. Sharing keeps them in the processor's cache. */
const TABLES = new Map<ByteTable, Map<ByteTable | number, ByteTable>>();
const NOTHING_FOLLOWS = -1;

function repeatTable(table: ByteTable, next: OsRegexElement | undefined): ByteTable {
  const follower =
    next === undefined ? NOTHING_FOLLOWS : next.kind === 'class' ? next.table : next.kind === 'mark' ? 0x28 : next.byte;
  let ofClass = TABLES.get(table);
  if (ofClass === undefined) TABLES.set(table, (ofClass = new Map<ByteTable | number, ByteTable>()));
  let decided = ofClass.get(follower);
  if (decided === undefined) ofClass.set(follower, (decided = decisions(table, follower)));
  return decided;
}

function decisions(table: ByteTable, follower: ByteTable | number): ByteTable {
  return table.map((accepted, byte) => {
    if (accepted === 0) return OUTSIDE;
    if (follower === NOTHING_FOLLOWS) return LAST;
    if (typeof follower === 'number') return follower === FOLD[byte] ? LEAVE : STAY;
    return follower[byte] === 1 ? MOVE : STAY;
  });
}

/**
 * The texts (folded) that every subject of a match contains: runs of literals and of unrepeated classes that accept a
 * single byte, across single marks, since the scan comes to an element inside a run only by taking the one before it at the
 * byte before. Undefined = there is no match at all.
 *
 * Not required: the last element when it stands directly behind an unrepeated class (rule B'.1 accepts in front of it),
 * and classes behind the last required literal (rules B'.1 and E skip classes and marks, but no literal).
 */
function requiredTexts(elements: readonly OsRegexElement[]): string[] | undefined {
  const last = elements.findLastIndex(
    ({ kind }, index) =>
      kind === 'literal' && !(index + 1 === elements.length && elements[index - 1]?.kind === 'class'),
  );
  const texts: string[] = [];
  let text = '';
  for (let index = 0; index <= last; index += 1) {
    const element = elements[index];
    if (element === undefined) break;
    const byte = element.kind === 'literal' ? element.byte : singleByte(element);
    if (byte === NEVER) return undefined;
    if (byte !== undefined) {
      text += String.fromCharCode(byte);
    } else if (element.kind !== 'mark' || elements[index - 1]?.kind === 'mark') {
      if (text !== '') texts.push(text);
      text = '';
    }
  }
  if (text !== '') texts.push(text);
  return texts;
}
