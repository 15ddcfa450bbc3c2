import { childrenOf, type AssertionKind, type ByteSet, type Node } from './ast.js';
import { containsCapture, isNullable, setsAllCaptures } from './analyse.js';

/**
 * Whether JavaScript's engine gives the same result for the tree as PCRE2: no atomic groups, calls, conditions or
 * back-references; no captures that JavaScript resets (inside repeats) or fills backwards (inside look-behinds); and
 * no repeats of something that can be empty, where the two end loops differently.
 */
export function isExactAsRegExp(node: Node): boolean {
  switch (node.kind) {
    case 'atomic':
    case 'call':
    case 'conditional':
    case 'back-reference':
      return false;
    case 'look':
      if (node.behind && containsCapture(node.body)) return false;
      if (node.negative && containsCapture(node.body)) return false;
      break;
    case 'repeat':
      // JavaScript clears the captures at each round: no difference where every round sets them all.
      if (node.max > 1 && (!setsAllCaptures(node.body) || isNullable(node.body))) return false;
      if (node.max <= 1 && isNullable(node.body)) return false;
      if (node.mode === 'possessive' && (node.body.kind !== 'set' || node.max !== Infinity)) return false;
      break;
    default:
  }
  return childrenOf(node).every(isExactAsRegExp);
}

/** The tree as the source of a RegExp without flags. Only for trees that `isExactAsRegExp`. */
export function toRegExpSource(node: Node): string {
  switch (node.kind) {
    case 'empty':
      return '(?:)';
    case 'set':
      return setSource(node.set);
    case 'sequence':
      return node.items.map((item) => (item.kind === 'alternation' ? group(item) : toRegExpSource(item))).join('');
    case 'alternation':
      return node.branches.map(toRegExpSource).join('|');
    case 'capture':
      return `(${toRegExpSource(node.body)})`;
    case 'assertion':
      return ASSERTIONS[node.assertion];
    case 'look':
      return `(?${node.behind ? '<' : ''}${node.negative ? '!' : '='}${toRegExpSource(node.body)})`;
    case 'repeat': {
      const body =
        node.body.kind === 'set' || node.body.kind === 'capture' ? toRegExpSource(node.body) : group(node.body);
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

function group(node: Node): string {
  return `(?:${toRegExpSource(node)})`;
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
