import { canBeEmpty, firstBytes, firstThen, leadingRun } from './analyse.js';
import { someNode, type ByteSet, type Node } from './ast.js';
import { intersects } from './byte-sets.js';

/*
 * How much work a backtracking search can be, in visits of a node at a position. Walking the pattern from left to right,
 * two bounds are kept: how often the node at hand is entered in the whole search (`entries`), and how often at one and
 * the same position (`multiplicity`). A set lets pass at most multiplicity x occurrences of its bytes, so the bound uses
 * what the subject at hand really contains.
 */
type Part =
  | { readonly kind: 'set'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'run';
      readonly bytes: Uint8Array;
      readonly max: number;
      /** Bytes at which the rest can go on inside the run; undefined = at each position. Empty = only behind the run. */
      readonly exits: Uint8Array | undefined;
      /** Visits that it takes to see that the rest does not begin at a position. */
      readonly probe: number;
      readonly leads: boolean;
    }
  | { readonly kind: 'loop'; readonly weight: number; readonly exits: Uint8Array | undefined }
  | { readonly kind: 'branches'; readonly branches: readonly (readonly Part[])[] }
  | { readonly kind: 'look'; readonly body: readonly Part[] }
  | { readonly kind: 'test' };

/** Counted repeats of groups up to this are written out in the model. */
const MAX_COPIES = 16;
/** Sets larger than this are taken to occur everywhere: adding up counts would cost more than it tells. */
const LARGE_SET = 64;

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
  readonly #parts: readonly Part[];
  readonly #anchored: boolean;
  #entries = 0;
  #multiplicity = 0;
  #cost = 0;

  constructor(parts: readonly Part[], anchored: boolean) {
    this.#parts = parts;
    this.#anchored = anchored;
  }

  /**
   * Visits at most, Infinity included.
   * @param length of the subject
   * @param counts how often each byte occurs; undefined = any subject of that length
   */
  bound(length: number, counts: Uint32Array | undefined): number {
    this.#entries = this.#anchored ? 1 : length + 1;
    this.#multiplicity = 1;
    this.#cost = this.#anchored ? 1 : length + 1;
    this.#walk(this.#parts, length, counts);
    return this.#cost;
  }

  #walk(parts: readonly Part[], length: number, counts: Uint32Array | undefined): void {
    for (const part of parts) {
      const entries = this.#entries;
      switch (part.kind) {
        case 'test':
          this.#cost += entries;
          break;
        case 'set':
          this.#cost += entries;
          this.#entries = Math.min(entries, this.#multiplicity * occurrences(part.bytes, length, counts));
          break;
        case 'run': {
          const longest = Math.min(part.max, occurrences(part.bytes, length, counts));
          // Runs that lead a search begin where no other is under way, so that all of them together are the subject.
          this.#cost += part.leads ? length * (2 + part.probe) : entries * (longest + 1) * (1 + part.probe);
          const exits = exitsOf(part.exits, longest, length, counts);
          if (part.leads) this.#entries = Math.min(entries, length) + exits;
          else {
            this.#multiplicity = entries;
            this.#entries = entries * (exits + 1);
          }
          break;
        }
        case 'loop':
          this.#cost += entries * part.weight * (length + 1);
          this.#multiplicity = entries;
          this.#entries = entries * (exitsOf(part.exits, length, length, counts) + 1);
          break;
        case 'branches': {
          const multiplicity = this.#multiplicity;
          let sumEntries = 0;
          let sumMultiplicity = 0;
          for (const branch of part.branches) {
            this.#entries = entries;
            this.#multiplicity = multiplicity;
            this.#cost += entries;
            this.#walk(branch, length, counts);
            sumEntries += this.#entries;
            sumMultiplicity += this.#multiplicity;
          }
          this.#entries = sumEntries;
          this.#multiplicity = sumMultiplicity;
          break;
        }
        case 'look': {
          const multiplicity = this.#multiplicity;
          this.#cost += entries;
          this.#walk(part.body, length, counts);
          this.#entries = entries;
          this.#multiplicity = multiplicity;
          break;
        }
      }
    }
  }
}

function occurrences(bytes: Uint8Array, length: number, counts: Uint32Array | undefined): number {
  if (counts === undefined || bytes.length > LARGE_SET) return length;
  let sum = 0;
  for (const byte of bytes) sum += counts[byte] ?? 0;
  return sum;
}

function exitsOf(exits: Uint8Array | undefined, most: number, length: number, counts: Uint32Array | undefined): number {
  if (exits === undefined) return most;
  return Math.min(most, exits.length === 0 ? 0 : occurrences(exits, length, counts));
}

/**
 * The cost model of a pattern; undefined when no polynomial bound is known: repeats inside repeats that can divide the
 * same text in several ways, references, calls, conditions.
 */
export function costModelOf(root: Node, anchored: boolean): CostModel | undefined {
  const lead = anchored ? undefined : leadingRun(root);
  const builder = new ModelBuilder(lead);
  const parts: Part[] = [];
  return builder.add(root, DONE, parts) ? new CostModel(parts, anchored) : undefined;
}

class ModelBuilder {
  /** The run that leads the search, until it has been met. */
  #lead: ByteSet | undefined;

  constructor(lead: ByteSet | undefined) {
    this.#lead = lead;
  }

  /** Adds the parts of a node; false when there is no bound. */
  add(node: Node, follow: Follow, into: Part[]): boolean {
    switch (node.kind) {
      case 'empty':
        return true;
      case 'fail':
      case 'assertion':
        into.push({ kind: 'test' });
        return true;
      case 'set':
        into.push({ kind: 'set', bytes: bytesOf(node.set) });
        return true;
      case 'sequence': {
        const follows = followsOf(node.items, follow);
        return node.items.every((item, index) => this.add(item, follows[index] ?? UNKNOWN, into));
      }
      case 'capture':
        return this.add(node.body, follow, into);
      case 'alternation':
        return this.#branches(node.branches, follow, into);
      case 'look': {
        const body: Part[] = [];
        if (!this.add(node.body, DONE, body)) return false;
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

  #branches(branches: readonly Node[], follow: Follow, into: Part[]): boolean {
    const parts: Part[][] = [];
    for (const branch of branches) {
      const part: Part[] = [];
      if (!this.add(branch, follow, part)) return false;
      parts.push(part);
    }
    into.push({ kind: 'branches', branches: parts });
    return true;
  }

  #repeat(node: Node & { kind: 'repeat' }, follow: Follow, into: Part[]): boolean {
    const { body, min, max } = node;
    if (max === 0) return true;
    if (body.kind === 'set') {
      const leads = this.#lead !== undefined;
      this.#lead = undefined;
      const exits = node.mode === 'possessive' ? NO_BYTES : exitBytes(body.set, follow.set);
      into.push({
        kind: 'run',
        bytes: bytesOf(body.set),
        max,
        exits: max === min ? NO_BYTES : exits,
        probe: follow.probe,
        leads,
      });
      return true;
    }
    if (max === 1) return this.#branches(min === 1 ? [body] : [body, { kind: 'empty' }], follow, into);
    const first = firstBytes(body);
    if (first !== undefined && isDeterministic(body, follow.set === undefined ? undefined : union(first, follow.set))) {
      into.push({ kind: 'loop', weight: 2 * weightOf(body) + follow.probe, exits: exitBytes(first, follow.set) });
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

const NO_BYTES = new Uint8Array(0);
const UNKNOWN: Follow = { set: undefined, probe: 0 };

/** Whether the next byte decides at each point of the node which way to go, so that nothing is ever tried twice. */
function isDeterministic(node: Node, follow: ByteSet | undefined): boolean {
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
function followsOf(items: readonly Node[], follow: Follow): Follow[] {
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
function probeOf(node: Node): number {
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

/** Bytes at which what follows can begin inside a run of the set: each is a way on of its own. */
function exitBytes(set: ByteSet, follow: ByteSet | undefined): Uint8Array | undefined {
  return follow === undefined ? undefined : bytesOf(set.map((flag, byte) => flag & (follow[byte] ?? 0)));
}

function bytesOf(set: ByteSet): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => set[byte] === 1);
}

function union(a: ByteSet, b: ByteSet): ByteSet {
  return a.map((flag, byte) => flag | (b[byte] ?? 0));
}

/** Number of nodes a round of a loop passes. */
function weightOf(node: Node): number {
  let weight = 0;
  someNode(node, () => {
    weight += 1;
    return false;
  });
  return weight;
}
