import { childrenOf, type ByteSet, type Node } from './ast.js';
import { addAll, intersects } from './byte-sets.js';

/** Whether a node can match the empty string. Assertions and looks match nothing but empty. */
export function isNullable(node: Node): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.every(isNullable);
    case 'alternation':
      return node.branches.some(isNullable);
    case 'capture':
    case 'atomic':
      return isNullable(node.body);
    case 'repeat':
      return node.min === 0 || isNullable(node.body);
    case 'conditional':
      return isNullable(node.yes) || isNullable(node.no);
    default:
      // Calls and back-references may match empty; so do assertions, looks and 'empty'.
      return true;
  }
}

/** Adds every byte a match of the node can begin with; false when that is not known (calls, back-references). */
export function addFirstBytes(node: Node, into: ByteSet): boolean {
  switch (node.kind) {
    case 'set':
      addAll(into, node.set);
      return true;
    case 'sequence':
      for (const item of node.items) {
        if (!addFirstBytes(item, into)) return false;
        if (!isNullable(item)) return true;
      }
      return true;
    case 'alternation':
      return node.branches.every((branch) => addFirstBytes(branch, into));
    case 'capture':
    case 'atomic':
    case 'repeat':
      return addFirstBytes(node.body, into);
    case 'conditional':
      return addFirstBytes(node.yes, into) && addFirstBytes(node.no, into);
    case 'back-reference':
    case 'call':
      return false;
    default:
      return true;
  }
}

/** Number of bytes every match of the node has, or undefined when matches differ in length. */
export function fixedLength(node: Node): number | undefined {
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
      return node.min === node.max && length !== undefined ? length * node.min : undefined;
    }
    case 'empty':
    case 'assertion':
    case 'look':
      return 0;
    default:
      return undefined;
  }
}

export function containsCapture(node: Node): boolean {
  return node.kind === 'capture' || childrenOf(node).some(containsCapture);
}

/** Whether a match of the node sets every capture in it: none lies in an alternative, an option or a look-around. */
export function setsAllCaptures(node: Node): boolean {
  switch (node.kind) {
    case 'alternation':
    case 'look':
    case 'conditional':
      return !containsCapture(node);
    case 'repeat':
      return node.min > 0 ? setsAllCaptures(node.body) : !containsCapture(node.body);
    default:
      return childrenOf(node).every(setsAllCaptures);
  }
}

/** A text that occurs in every subject the pattern matches. */
export type RequiredLiteral = { readonly text: string; readonly folded: boolean };

/** The longest such text found in the parts every match goes through; undefined when there is none. */
export function requiredLiteral(root: Node): RequiredLiteral | undefined {
  let best: RequiredLiteral | undefined;
  let text = '';
  let folded = false;
  const close = (): void => {
    if (text.length > (best?.text.length ?? 0)) best = { text, folded };
    text = '';
    folded = false;
  };
  const walk = (node: Node): void => {
    switch (node.kind) {
      case 'set': {
        const byte = singleByte(node.set);
        if (byte === undefined) close();
        else {
          // Once folded, every letter of the text is compared folded, which is weaker but never wrong.
          if (byte.folded && !folded) {
            folded = true;
            text = text.toLowerCase();
          }
          text += folded ? String.fromCharCode(byte.code).toLowerCase() : String.fromCharCode(byte.code);
        }
        return;
      }
      case 'sequence':
        node.items.forEach(walk);
        return;
      case 'capture':
      case 'atomic':
        walk(node.body);
        return;
      case 'repeat':
        close();
        if (node.min > 0) {
          walk(node.body);
          close();
        }
        return;
      case 'empty':
      case 'assertion':
        return;
      default:
        close();
    }
  };
  walk(root);
  close();
  return best;
}

/** The one byte of a set, or the lower-case one of a letter's two cases; bytes >= 0x80 are left out of literals. */
function singleByte(set: ByteSet): { code: number; folded: boolean } | undefined {
  let found: number | undefined;
  let count = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    if (set[byte] !== 1) continue;
    count += 1;
    if (count > 2) return undefined;
    found = byte;
  }
  if (found === undefined || found >= 0x80) return undefined;
  if (count === 1) return { code: found, folded: false };
  const isLetterPair = found >= 0x61 && found <= 0x7a && set[found - 0x20] === 1;
  return isLetterPair ? { code: found, folded: true } : undefined;
}

/** Whether every match starts at offset 0. */
export function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.assertion === 'start';
    case 'sequence': {
      for (const item of node.items) {
        if (isAnchored(item)) return true;
        if (item.kind !== 'assertion' && item.kind !== 'look' && item.kind !== 'empty') return false;
      }
      return false;
    }
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
 * How the matching cost of a pattern grows: one entry for each repeat that can run over the whole subject, in order;
 * true when what follows can also begin inside the run, so that each of its lengths has to be tried.
 */
export type CostModel = { readonly anchored: boolean; readonly wide: readonly boolean[]; readonly constant: number };

/** A bounded repeat with more choices than this counts as one that runs over the whole subject. */
const NARROW_CHOICES = 16;
/** A pattern whose alternatives and narrow repeats combine in more ways than this has no useful bound. */
const MAX_CONSTANT = 4096;

/** The cost model, or undefined when no useful polynomial bound is known (repeats inside wide repeats and the like). */
export function costModel(root: Node): CostModel | undefined {
  const wide: boolean[] = [];
  let constant = 1;
  /** Returns what the rest after `node` may begin with; undefined `follow` = anything. */
  const visit = (node: Node, follow: ByteSet | undefined, insideWide: boolean): boolean => {
    switch (node.kind) {
      case 'sequence': {
        const follows: (ByteSet | undefined)[] = new Array<ByteSet | undefined>(node.items.length);
        let after = follow;
        for (let index = node.items.length - 1; index >= 0; index -= 1) {
          follows[index] = after;
          const item = node.items[index];
          if (item === undefined) continue;
          after = firstThen(item, after);
        }
        return node.items.every((item, index) => visit(item, follows[index], insideWide));
      }
      case 'alternation': {
        constant *= haveDisjointFirsts(node.branches) ? 1 : node.branches.length;
        return constant <= MAX_CONSTANT && node.branches.every((branch) => visit(branch, follow, insideWide));
      }
      case 'capture':
        return visit(node.body, follow, insideWide);
      case 'look':
        return visit(node.body, undefined, insideWide);
      case 'repeat': {
        const choices = node.max - node.min + 1;
        const ambiguous = node.mode !== 'possessive' && overlaps(node.body, follow);
        if (choices > NARROW_CHOICES) {
          if (insideWide || node.body.kind !== 'set') return false;
          wide.push(ambiguous);
          return true;
        }
        if (ambiguous) constant *= choices;
        return constant <= MAX_CONSTANT && visit(node.body, undefined, insideWide);
      }
      case 'set':
      case 'empty':
      case 'assertion':
        return true;
      default:
        return false;
    }
  };
  if (!visit(root, new Uint8Array(256), false)) return undefined;
  return { anchored: isAnchored(root), wide, constant };
}

function firstThen(node: Node, follow: ByteSet | undefined): ByteSet | undefined {
  // An assertion or look lets anything follow and can fail by itself: every length may have to be tried.
  if (node.kind === 'assertion' || node.kind === 'look') return undefined;
  const set = new Uint8Array(256);
  if (!addFirstBytes(node, set)) return undefined;
  if (!isNullable(node)) return set;
  if (follow === undefined) return undefined;
  addAll(set, follow);
  return set;
}

function overlaps(body: Node, follow: ByteSet | undefined): boolean {
  if (follow === undefined) return true;
  const first = new Uint8Array(256);
  return !addFirstBytes(body, first) || intersects(first, follow);
}

function haveDisjointFirsts(branches: readonly Node[]): boolean {
  const seen = new Uint8Array(256);
  for (const branch of branches) {
    const first = new Uint8Array(256);
    if (isNullable(branch) || !addFirstBytes(branch, first) || intersects(seen, first)) return false;
    addAll(seen, first);
  }
  return true;
}

/** Upper bound of the steps to search a subject of `length` bytes. */
export function costOf(model: CostModel, length: number): number {
  let cost = 1;
  for (let index = model.wide.length - 1; index >= 0; index -= 1) {
    cost = model.wide[index] === true ? length + length * cost : length + cost;
  }
  return (model.anchored ? 1 : length) * cost * model.constant;
}
