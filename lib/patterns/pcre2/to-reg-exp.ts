import { canBeEmpty, capturesIn, fixedLength } from './analyse.js';
import { type AssertionKind, type ByteSet, childrenOf, type PatternNode } from './ast.js';

/** Counted repeats above this make V8's compiled code large, and long to compile. */
const MAX_COUNT = 1000;
/** Longest source given to V8, which takes up to a millisecond for a thousand bytes to compile it, at its first match. */
const MAX_SOURCE = 4096;
/** Most groups of such a source: V8 fails at some thousands, at the first match. */
const MAX_CAPTURES = 100;

/**
 * The RegExp without flags that gives the same result on byte strings as PCRE2 does for the tree (decoding.md 1.4);
 * undefined where there is none.
 * @param notBehind bytes behind which no match can begin (see `leadingRun`)
 */
export function toRegExp(root: PatternNode, notBehind: ByteSet | undefined): RegExp | undefined {
  const captures = capturesIn(root);
  // A branch reset gives one number to several groups.
  if (captures.length > MAX_CAPTURES || new Set(captures).size !== captures.length || !isExact(root)) return undefined;
  const guard = notBehind === undefined ? '' : `(?<!${setSource(notBehind)})`;
  const source = guard === '' ? sourceOf(root) : guard + group(root);
  if (source.length > MAX_SOURCE) return undefined;
  try {
    return new RegExp(source);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * No atomic groups, calls, conditions or back-references (JavaScript takes a reference to an unset group as empty); no
 * captures that JavaScript resets (inside repeats) or fills backwards (inside look-behinds); and no repeats of something
 * that can be empty, where the two end loops differently.
 */
function isExact(node: PatternNode): boolean {
  switch (node.kind) {
    case 'atomic':
    case 'call':
    case 'conditional':
    case 'back-reference':
      return false;
    case 'look':
      if (node.behind && (capturesIn(node.body).length > 0 || !hasFixedBranches(node.body))) return false;
      if (node.negative && capturesIn(node.body).length > 0) return false;
      break;
    case 'repeat':
      if (node.min > MAX_COUNT || (node.max !== Infinity && node.max > MAX_COUNT)) return false;
      if (canBeEmpty(node.body)) return false;
      if (node.max > 1 && capturesIn(node.body).some((index) => !alwaysSets(node.body, index))) return false;
      if (node.max === 0 && capturesIn(node.body).length > 0) return false;
      if (node.mode === 'possessive' && (node.body.kind !== 'set' || node.max !== Infinity)) return false;
      break;
    default:
  }
  return childrenOf(node).every(isExact);
}

function hasFixedBranches(body: PatternNode): boolean {
  const branches = body.kind === 'alternation' ? body.branches : [body];
  return branches.every((branch) => fixedLength(branch) !== undefined);
}

/** Whether each way through the node sets the group. */
function alwaysSets(node: PatternNode, index: number): boolean {
  switch (node.kind) {
    case 'capture':
      return node.index === index || alwaysSets(node.body, index);
    case 'sequence':
      return node.items.some((item) => alwaysSets(item, index));
    case 'alternation':
      return node.branches.every((branch) => alwaysSets(branch, index));
    case 'repeat':
      return node.min > 0 && alwaysSets(node.body, index);
    default:
      return false;
  }
}

function sourceOf(node: PatternNode): string {
  switch (node.kind) {
    case 'empty':
      return '(?:)';
    case 'fail':
      return '[]';
    case 'set':
      return setSource(node.set);
    case 'sequence':
      return node.items.map((item) => (item.kind === 'alternation' ? group(item) : sourceOf(item))).join('');
    case 'alternation':
      return node.branches.map(sourceOf).join('|');
    case 'capture':
      return `(${sourceOf(node.body)})`;
    case 'assertion':
      return ASSERTIONS[node.assertion];
    case 'look':
      return `(?${node.behind ? '<' : ''}${node.negative ? '!' : '='}${sourceOf(node.body)})`;
    case 'repeat': {
      const body = node.body.kind === 'set' || node.body.kind === 'capture' ? sourceOf(node.body) : group(node.body);
      // A possessive repeat of one set gives nothing back exactly when no further byte of the set follows.
      if (node.mode === 'possessive') return `${body}${quantifier(node.min, node.max)}(?!${body})`;
      return body + quantifier(node.min, node.max) + (node.mode === 'lazy' ? '?' : '');
    }
    default:
      throw new Error(`'${node.kind}' has no equal in a RegExp`);
  }
}

const ASSERTIONS: Readonly<Record<AssertionKind, string>> = {
  start: '^',
  // Not after a newline that ends the subject.
  'line-start': '(?:^|(?<=\\n)(?=[^]))',
  end: '(?![^])',
  'end-or-final-newline': '(?=\\n?(?![^]))',
  'line-end': '(?=\\n|(?![^]))',
  'word-boundary': '\\b',
  'no-word-boundary': '\\B',
};

function group(node: PatternNode): string {
  return `(?:${sourceOf(node)})`;
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${String(min)},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${String(min)}}` : `{${String(min)},${String(max)}}`;
}

function byteSource(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

function setSource(set: ByteSet): string {
  const ranges: string[] = [];
  let count = 0;
  for (let low = 0; low < 256; low += 1) {
    if (set[low] !== 1) continue;
    let high = low;
    while (high < 255 && set[high + 1] === 1) high += 1;
    count += high - low + 1;
    ranges.push(low === high ? byteSource(low) : `${byteSource(low)}-${byteSource(high)}`);
    low = high;
  }
  if (count === 256) return '[^]';
  if (count === 1) return ranges[0] ?? '';
  return `[${ranges.join('')}]`;
}
