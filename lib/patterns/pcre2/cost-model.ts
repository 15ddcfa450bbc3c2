import { FOLD } from '../fold-ascii.js';
import type { Subject } from '../subject.js';
import { canBeEmpty, firstBytes, firstThen, leadingRun } from './analyse.js';
import { type ByteSet, type PatternNode, someNode } from './ast.js';
import { intersects, letterOfBothCases, membersOf, singleByte } from './byte-sets.js';

/*
 * How much work a backtracking search can be, in visits of a node at a position. Walking the pattern from left to right,
 * two bounds are kept: how often the node at hand is entered in the whole search (`entries`), and how often at one and
 * the same position (`multiplicity`). A set lets pass at most multiplicity x occurrences of its bytes, so the bound uses
 * what the subject at hand really contains.
 */
type CostPart =
  | { readonly kind: 'set'; readonly set: SetNumber }
  /** Several bytes, whose first one is in the set; `text` is the index of their folded text. */
  | { readonly kind: 'text'; readonly first: SetNumber; readonly text: number; readonly length: number }
  | {
      readonly kind: 'run';
      readonly set: SetNumber;
      readonly max: number;
      /** Bytes at which the rest can go on inside the run. */
      readonly exits: SetNumber;
      /** Visits that it takes to see that the rest does not begin at a position. */
      readonly probe: number;
      /** Whether it is entered only where no byte of the set stands before, so that runs of several entries never overlap. */
      readonly fresh: boolean;
    }
  | { readonly kind: 'loop'; readonly weight: number; readonly exits: SetNumber }
  | { readonly kind: 'branches'; readonly branches: readonly (readonly CostPart[])[] }
  | { readonly kind: 'look'; readonly body: readonly CostPart[] }
  | { readonly kind: 'test' };

/** A set whose bytes are counted. */
type CountedSet = {
  readonly bytes: Uint8Array;
  readonly table: ByteSet;
  /** Whether how often they occur is counted; else they are taken to be everywhere. */
  readonly counts: boolean;
  /** Whether the longest stretch of its bytes matters too. */
  repeats: boolean;
};

/** What a model asks of a subject. */
type Asked = { readonly sets: CountedSet[]; readonly texts: string[] };

/** Index into the sets of a model. */
type SetNumber = number;
/** The set without bytes: nothing to count. */
const NO_SET: SetNumber = 0;
/** Any byte, or not known. */
const ANY_SET: SetNumber = 1;

/** Counted repeats of groups up to this are written out in the model. */
const MAX_COPIES = 16;
/** Up to this many copies the written-out form gives the closer bound. */
const FEW_COPIES = 4;
/** Sets larger than this are taken to occur everywhere: adding up counts would cost more than it tells. */
const LARGE_SET = 32;
/** Texts of a pattern that are counted in a subject. */
const MAX_TEXTS = 4;

/** What comes behind a node. */
type Follow = {
  /** Bytes with which it begins; undefined where any byte or nothing can come. */
  readonly set: ByteSet | undefined;
  /** Visits that it takes to see that it does not begin at a position. */
  readonly probe: number;
};

/** Behind the pattern: whoever comes here has a match, and nothing more is tried. */
const DONE: Follow = { set: new Uint8Array(256), probe: 0 };

/** Upper bound of the work of matching, as a function of the subject. */
export class CostModel {
  readonly #parts: readonly CostPart[];
  readonly #anchored: boolean;
  /** The sets behind the first two. */
  readonly #sets: readonly CountedSet[];
  readonly #texts: readonly string[];
  /** How often each text occurs in the subject at hand. */
  readonly #textCounts: Float64Array;
  /** How often the bytes of each set occur in the subject at hand. */
  readonly #occurrences: Float64Array;
  /** The longest stretch of bytes of each set, as far as it is looked at. */
  readonly #stretches: Float64Array;
  #entries = 0;
  #multiplicity = 0;
  #cost = 0;

  constructor(parts: readonly CostPart[], anchored: boolean, { sets, texts }: Readonly<Asked>) {
    this.#parts = parts;
    this.#anchored = anchored;
    this.#sets = sets;
    this.#texts = texts;
    this.#textCounts = new Float64Array(texts.length);
    this.#occurrences = new Float64Array(sets.length + 2);
    this.#stretches = new Float64Array(sets.length + 2);
  }

  /** Visits at most on this subject, Infinity included. */
  boundOn(subject: Subject): number {
    const { counts, length } = subject;
    const occurrences = this.#occurrences;
    const stretches = this.#stretches;
    occurrences[ANY_SET] = length;
    stretches[ANY_SET] = length;
    const texts = this.#texts;
    for (let index = 0; index < texts.length; index += 1) {
      this.#textCounts[index] = subject.occurrences(texts[index] ?? '');
    }
    const sets = this.#sets;
    for (let index = 0; index < sets.length; index += 1) {
      const set = sets[index];
      if (set === undefined) break;
      const sum = set.counts ? sumOf(counts, set.bytes) : length;
      const number = index + ANY_SET + 1;
      occurrences[number] = sum;
      stretches[number] = set.repeats ? subject.longestRun(set.table) : sum;
    }
    return this.#bound(length);
  }

  /** Visits at most on any subject of that length, Infinity included. */
  boundFor(length: number): number {
    this.#occurrences.fill(length, ANY_SET);
    this.#stretches.fill(length, ANY_SET);
    this.#textCounts.fill(length);
    return this.#bound(length);
  }

  #bound(length: number): number {
    this.#entries = this.#anchored ? 1 : length + 1;
    this.#multiplicity = 1;
    this.#cost = this.#entries;
    this.#walk(this.#parts, length);
    return this.#cost;
  }

  #walk(parts: readonly CostPart[], length: number): void {
    for (const part of parts) {
      const entries = this.#entries;
      const multiplicity = this.#multiplicity;
      switch (part.kind) {
        case 'test':
          this.#cost += entries;
          break;
        case 'set':
          this.#cost += entries;
          this.#entries = Math.min(entries, multiplicity * this.#count(part.set));
          break;
        case 'text': {
          const begun = Math.min(entries, multiplicity * this.#count(part.first));
          this.#cost += entries + begun * (part.length - 1);
          this.#entries = Math.min(begun, multiplicity * (this.#textCounts[part.text] ?? 0));
          break;
        }
        case 'run': {
          const count = this.#count(part.set);
          const exits = Math.min(this.#count(part.exits), count);
          if (part.fresh) {
            this.#cost += entries + (multiplicity * count + entries) * (1 + part.probe);
            this.#entries = entries + multiplicity * exits;
          } else {
            const longest = Math.min(part.max, this.#stretches[part.set] ?? 0);
            this.#cost += entries * (longest + 1) * (1 + part.probe);
            // Entries that reach one position by one run began in the same stretch of its bytes.
            this.#multiplicity = Math.min(entries, multiplicity * (longest + 1));
            this.#entries = Math.min(entries * (Math.min(exits, longest) + 1), this.#multiplicity * (length + 1));
          }
          break;
        }
        case 'loop':
          this.#cost += entries * part.weight * (length + 1);
          this.#multiplicity = entries;
          this.#entries = entries * (this.#count(part.exits) + 1);
          break;
        case 'branches': {
          let sumEntries = 0;
          let sumMultiplicity = 0;
          for (const branch of part.branches) {
            this.#entries = entries;
            this.#multiplicity = multiplicity;
            this.#cost += entries;
            this.#walk(branch, length);
            sumEntries += this.#entries;
            sumMultiplicity += this.#multiplicity;
          }
          this.#entries = sumEntries;
          this.#multiplicity = sumMultiplicity;
          break;
        }
        case 'look':
          this.#cost += entries;
          this.#walk(part.body, length);
          this.#entries = entries;
          this.#multiplicity = multiplicity;
          break;
      }
    }
  }

  #count(set: SetNumber): number {
    return this.#occurrences[set] ?? 0;
  }
}

function sumOf(counts: Uint32Array, bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum += counts[byte] ?? 0;
  return sum;
}

/**
 * The cost model of a pattern; undefined when no polynomial bound is known: repeats inside repeats that can divide the
 * same text in several ways, references, calls, conditions.
 */
export function costModelOf(root: PatternNode, anchored: boolean): CostModel | undefined {
  const builder = new ModelBuilder(anchored ? NOTHING : undefined, anchored ? undefined : leadingRun(root));
  const parts: CostPart[] = [];
  return builder.add(root, DONE, parts) ? new CostModel(parts, anchored, builder) : undefined;
}

/**
 * Whether a pattern without references, calls and conditions has a cost model for sure, as far as can be seen without
 * making it: no repeat that would be written out too often.
 */
export function isBounded(root: PatternNode): boolean {
  return !someNode(root, (node) => node.kind === 'repeat' && node.body.kind !== 'set' && node.max > MAX_COPIES);
}

const NOTHING: ByteSet = new Uint8Array(256);

class ModelBuilder implements Asked {
  readonly sets: CountedSet[] = [];
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, SetNumber>();
  /** Bytes that can stand before what is added next; undefined = any, or not known. */
  #before: ByteSet | undefined;
  /** The run that leads the search, until it has been met: searches do not begin behind a byte of it. */
  #lead: ByteSet | undefined;

  constructor(before: ByteSet | undefined, lead: ByteSet | undefined) {
    this.#before = before;
    this.#lead = lead;
  }

  /** Adds the parts of a node; false when there is no bound. */
  add(node: PatternNode, follow: Follow, into: CostPart[]): boolean {
    switch (node.kind) {
      case 'empty':
        return true;
      case 'fail':
      case 'assertion':
        into.push({ kind: 'test' });
        return true;
      case 'set':
        into.push({ kind: 'set', set: this.#number(node.set) });
        this.#before = node.set;
        return true;
      case 'sequence': {
        const follows = followsOf(node.items, follow);
        for (let index = 0; index < node.items.length; index += 1) {
          const taken = this.#text(node.items, index, into);
          if (taken > 0) {
            index += taken - 1;
            continue;
          }
          const item = node.items[index];
          if (item !== undefined && !this.add(item, follows[index] ?? UNKNOWN, into)) return false;
        }
        return true;
      }
      case 'capture':
        return this.add(node.body, follow, into);
      case 'alternation':
        return this.#branches(node.branches, follow, into);
      case 'look': {
        const body: CostPart[] = [];
        const before = this.#before;
        if (node.behind) this.#before = undefined;
        if (!this.add(node.body, DONE, body)) return false;
        this.#before = before;
        into.push({ kind: 'look', body });
        return true;
      }
      case 'atomic':
        // Fewer ways than without the atomic property, but their order of growth is the same.
        return this.add(node.body, UNKNOWN, into);
      case 'repeat':
        return this.#repeat(node, follow, into);
      case 'back-reference':
      case 'call':
      case 'conditional':
        return false;
    }
  }

  /** Adds the items from an index on that are a text, as one part; gives how many they are, 0 when it is none. */
  #text(items: readonly PatternNode[], from: number, into: CostPart[]): number {
    let text = '';
    for (const item of items.slice(from)) {
      const byte = item.kind === 'set' ? textByte(item.set) : undefined;
      if (byte === undefined) break;
      text += String.fromCharCode(byte);
    }
    const [first, last] = [items[from], items[from + text.length - 1]];
    if (text.length < 2 || this.texts.length >= MAX_TEXTS || first?.kind !== 'set' || last?.kind !== 'set') return 0;
    into.push({ kind: 'text', first: this.#number(first.set), text: this.texts.push(text) - 1, length: text.length });
    this.#before = last.set;
    return text.length;
  }

  #branches(branches: readonly PatternNode[], follow: Follow, into: CostPart[]): boolean {
    const parts: CostPart[][] = [];
    const before = this.#before;
    let after: ByteSet | undefined = NOTHING;
    for (const branch of branches) {
      const part: CostPart[] = [];
      this.#before = before;
      if (!this.add(branch, follow, part)) return false;
      parts.push(part);
      after = after === undefined || this.#before === undefined ? undefined : union(after, this.#before);
    }
    this.#before = after;
    into.push({ kind: 'branches', branches: parts });
    return true;
  }

  /** Bytes at which what follows can begin inside a run of the set: each is a way on of its own. */
  #exits(set: ByteSet, follow: ByteSet | undefined): SetNumber {
    return this.#number(follow === undefined ? undefined : set.map((flag, byte) => flag & (follow[byte] ?? 0)));
  }

  /** The number of a set, whose bytes are counted for each subject unless it is large. */
  #number(set: ByteSet | undefined): SetNumber {
    const bytes = set === undefined ? undefined : membersOf(set);
    if (set === undefined || bytes === undefined || bytes.length === 256) return ANY_SET;
    if (bytes.length === 0) return NO_SET;
    const key = bytes.join();
    let number = this.#numbers.get(key);
    if (number === undefined) {
      const counts = bytes.length <= LARGE_SET;
      number =
        this.sets.push({ bytes: Uint8Array.from(bytes), table: sharedTable(key, set), counts, repeats: false }) +
        ANY_SET;
      this.#numbers.set(key, number);
    }
    return number;
  }

  #repeat(node: PatternNode & { kind: 'repeat' }, follow: Follow, into: CostPart[]): boolean {
    const { body, min, max } = node;
    if (max === 0) return true;
    if (body.kind === 'set') {
      const before = this.#before;
      const fresh = this.#lead !== undefined || (before !== undefined && !intersects(before, body.set));
      this.#lead = undefined;
      const exits = max === min || node.mode === 'possessive' ? NO_SET : this.#exits(body.set, follow.set);
      const number = this.#number(body.set);
      const counted = this.sets[number - ANY_SET - 1];
      if (counted !== undefined && !fresh && max > 1) counted.repeats = true;
      into.push({ kind: 'run', set: number, max, exits, probe: follow.probe, fresh });
      this.#before = min > 0 ? body.set : before && union(before, body.set);
      return true;
    }
    if (max === 1) return this.#branches(min === 1 ? [body] : [body, { kind: 'empty' }], follow, into);
    const first = firstBytes(body);
    if (
      max > FEW_COPIES &&
      first !== undefined &&
      isDeterministic(body, follow.set === undefined ? undefined : union(first, follow.set))
    ) {
      const weight = 2 * weightOf(body) + follow.probe;
      into.push({ kind: 'loop', weight, exits: this.#exits(first, follow.set) });
      this.#before = undefined;
      return true;
    }
    if (max > MAX_COPIES) return false;
    for (let copy = 1; copy <= max; copy += 1) {
      const added =
        copy <= min ? this.add(body, UNKNOWN, into) : this.#branches([body, { kind: 'empty' }], UNKNOWN, into);
      if (!added) return false;
    }
    return true;
  }
}

/** The folded byte of a set that is one byte, or both cases of a letter. */
function textByte(set: ByteSet): number | undefined {
  const byte = singleByte(set);
  return byte === undefined ? letterOfBothCases(set) : FOLD[byte];
}

/** One table for equal sets of all patterns, as far as there is room: subjects remember what they know of a table. */
function sharedTable(key: string, set: ByteSet): ByteSet {
  const known = TABLES.get(key);
  if (known !== undefined) return known;
  if (TABLES.size < MAX_TABLES) TABLES.set(key, set);
  return set;
}

const MAX_TABLES = 4096;
const TABLES = new Map<string, ByteSet>();

const UNKNOWN: Follow = { set: undefined, probe: 0 };

/** Whether the next byte decides at each point of the node which way to go, so that nothing is ever tried twice. */
function isDeterministic(node: PatternNode, follow: ByteSet | undefined): boolean {
  switch (node.kind) {
    case 'set':
      return true;
    case 'sequence': {
      const follows = followsOf(node.items, { set: follow, probe: 0 });
      return node.items.every((item, index) => isDeterministic(item, follows[index]?.set));
    }
    case 'capture':
      return isDeterministic(node.body, follow);
    case 'alternation': {
      const firsts = node.branches.map(firstBytes);
      return node.branches.every((branch, index) => {
        const first = firsts[index];
        if (first === undefined || !isDeterministic(branch, follow)) return false;
        return firsts.slice(0, index).every((other) => other !== undefined && !intersects(first, other));
      });
    }
    case 'repeat': {
      if (node.min === node.max && node.body.kind === 'set') return true;
      const first = firstBytes(node.body);
      if (first === undefined || follow === undefined || intersects(first, follow)) return false;
      return isDeterministic(node.body, node.max > 1 ? union(first, follow) : follow);
    }
    default:
      return false;
  }
}

/** What comes behind each item. Nothing is known behind which an assertion or look-around stands: it fails by itself. */
function followsOf(items: readonly PatternNode[], follow: Follow): Follow[] {
  const follows: Follow[] = [];
  let after = follow;
  for (const item of items.toReversed()) {
    follows.unshift(after);
    const opaque = canBeEmpty(item) && someNode(item, ({ kind }) => kind === 'look' || kind === 'assertion');
    const probe = probeOf(item) + (canBeEmpty(item) ? after.probe : 0);
    after = opaque ? UNKNOWN : { set: firstThen(item, after.set), probe };
  }
  return follows;
}

/** Visits until a byte is taken or refused. */
function probeOf(node: PatternNode): number {
  switch (node.kind) {
    case 'sequence': {
      let probe = 0;
      for (const item of node.items) {
        probe += probeOf(item);
        if (!canBeEmpty(item)) break;
      }
      return probe;
    }
    case 'alternation':
      return node.branches.reduce((sum, branch) => sum + 1 + probeOf(branch), 0);
    case 'capture':
    case 'atomic':
    case 'repeat':
      return 1 + probeOf(node.body);
    default:
      return 1;
  }
}

function union(a: ByteSet, b: ByteSet): ByteSet {
  return a.map((flag, byte) => flag | (b[byte] ?? 0));
}

/** Number of nodes a round of a loop passes. */
function weightOf(node: PatternNode): number {
  let weight = 0;
  someNode(node, () => {
    weight += 1;
    return false;
  });
  return weight;
}
