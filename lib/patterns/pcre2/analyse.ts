import { type ByteSet, childrenOf, type PatternNode } from './ast.js';
import { addAll } from './byte-sets.js';

/** Whether a node can match without taking a byte; true where that is not known. */
export function canBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case 'set':
    case 'fail':
      return false;
    case 'sequence':
      return node.items.every(canBeEmpty);
    case 'alternation':
      return node.branches.some(canBeEmpty);
    case 'capture':
    case 'atomic':
      return canBeEmpty(node.body);
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.body);
    case 'conditional':
      return canBeEmpty(node.yes) || canBeEmpty(node.no);
    case 'empty':
    case 'assertion':
    case 'look':
    case 'back-reference':
    case 'call':
      return true;
  }
}

/** Adds every byte that a match of the node can begin with; false when that is not known (calls, references). */
function addFirstBytes(node: PatternNode, into: ByteSet): boolean {
  switch (node.kind) {
    case 'set':
      addAll(into, node.set);
      return true;
    case 'sequence':
      for (const item of node.items) {
        if (!addFirstBytes(item, into)) return false;
        if (!canBeEmpty(item)) return true;
      }
      return true;
    case 'alternation':
      return node.branches.every((branch) => addFirstBytes(branch, into));
    case 'capture':
    case 'atomic':
      return addFirstBytes(node.body, into);
    case 'repeat':
      return node.max === 0 || addFirstBytes(node.body, into);
    case 'conditional':
      return addFirstBytes(node.yes, into) && addFirstBytes(node.no, into);
    case 'back-reference':
    case 'call':
      return false;
    case 'empty':
    case 'fail':
    case 'assertion':
    case 'look':
      return true;
  }
}

/** The bytes with which a match of the node begins; undefined where it can be empty or that is not known. */
export function firstBytes(node: PatternNode): ByteSet | undefined {
  return firstThen(node, undefined);
}

/**
 * The bytes with which the node and what follows it can begin. `follow` undefined = anything, or nothing, may follow.
 * Assertions and look-arounds in front are left out, which makes the set larger at most.
 */
export function firstThen(node: PatternNode, follow: ByteSet | undefined): ByteSet | undefined {
  const set = new Uint8Array(256);
  if (!addFirstBytes(node, set)) return undefined;
  if (!canBeEmpty(node)) return set;
  if (follow === undefined) return undefined;
  addAll(set, follow);
  return set;
}

/** Number of bytes every match of the node has; undefined when matches differ in length. */
export function fixedLength(node: PatternNode): number | undefined {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'sequence': {
      let total = 0;
      for (const item of node.items) {
        const length = fixedLength(item);
        if (length === undefined) return undefined;
        total += length;
      }
      return total;
    }
    case 'alternation': {
      const lengths = node.branches.map(fixedLength);
      return lengths.every((length) => length === lengths[0]) ? lengths[0] : undefined;
    }
    case 'capture':
    case 'atomic':
      return fixedLength(node.body);
    case 'repeat': {
      const length = fixedLength(node.body);
      if (length === 0) return 0;
      return node.min === node.max && length !== undefined ? length * node.min : undefined;
    }
    case 'empty':
    case 'fail':
    case 'assertion':
    case 'look':
      return 0;
    case 'conditional': {
      const yes = fixedLength(node.yes);
      const no = fixedLength(node.no);
      return node.condition.kind === 'never' || yes === no ? no : undefined;
    }
    case 'back-reference':
    case 'call':
      return undefined;
  }
}

/** Numbers of the capture groups in the node, as often as they stand there. */
export function capturesIn(node: PatternNode): number[] {
  const below = childrenOf(node).flatMap(capturesIn);
  return node.kind === 'capture' ? [node.index, ...below] : below;
}

/** Whether every match starts at offset 0. */
export function isAnchored(node: PatternNode): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.assertion === 'start';
    case 'sequence':
      for (const item of node.items) {
        if (isAnchored(item)) return true;
        if (item.kind !== 'assertion' && item.kind !== 'look' && item.kind !== 'empty') return false;
      }
      return false;
    case 'alternation':
      return node.branches.every(isAnchored);
    case 'capture':
    case 'atomic':
      return isAnchored(node.body);
    default:
      return false;
  }
}

/**
 * The set of the repeat without upper limit that every match begins with, if there is one. A match that begins at a byte
 * whose predecessor is in the set too can be made longer to the left, so that the first match of a search never begins
 * there (unless a part of the pattern looks at what the repeat took; such patterns must not ask).
 */
export function leadingRun(node: PatternNode): ByteSet | undefined {
  switch (node.kind) {
    case 'repeat':
      return node.max === Infinity && node.body.kind === 'set' ? node.body.set : undefined;
    case 'capture':
      return leadingRun(node.body);
    case 'sequence': {
      const [first] = node.items;
      return first === undefined ? undefined : leadingRun(first);
    }
    default:
      return undefined;
  }
}
