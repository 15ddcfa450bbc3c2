import type { PatternNode } from './ast.js';
import { setOf } from './byte-sets.js';

/** Code points, as ranges (both ends included) in ascending order without overlaps. */
export type CodePoints = readonly (readonly [low: number, high: number])[];

const LAST = 0x10ffff;
/** Behind the last letter that has another case; saves looking further. */
const LAST_CASED = 0x1e943;

/** Sorts and merges ranges. */
export function normalised(ranges: readonly (readonly [number, number])[]): CodePoints {
  const merged: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before !== undefined && low <= before[1] + 1) before[1] = Math.max(before[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

/** All code points that are not in the ranges. */
export function outside(ranges: CodePoints): CodePoints {
  const result: [number, number][] = [];
  let next = 0;
  for (const [low, high] of ranges) {
    if (low > next) result.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= LAST) result.push([next, LAST]);
  return result;
}

/** The code points up to `last` that a JS expression with the `u` flag accepts as a whole text. */
export function codePointsOf(expression: RegExp, last = LAST): CodePoints {
  const ranges: [number, number][] = [];
  for (let code = 0; code <= last; code += 1) {
    if ((code >= 0xd800 && code <= 0xdfff) || !expression.test(String.fromCodePoint(code))) continue;
    const before = ranges.at(-1);
    if (before?.[1] === code - 1) before[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}

/** The ranges with the other case of their ASCII letters, which is what folds without UTF. */
export function withOtherCase(ranges: CodePoints): CodePoints {
  const added: [number, number][] = [];
  for (let lower = 0x61; lower <= 0x7a; lower += 1) {
    const upper = lower - 0x20;
    if (ranges.some(([low, high]) => (lower >= low && lower <= high) || (upper >= low && upper <= high))) {
      added.push([lower, lower], [upper, upper]);
    }
  }
  return normalised([...ranges, ...added]);
}

/** The ranges with the other cases of their characters, by Unicode's simple folding. */
export function withUnicodeCases(ranges: CodePoints): CodePoints {
  const members = ranges.map(([low, high]) => `\\u{${low.toString(16)}}-\\u{${high.toString(16)}}`).join('');
  if (members === '') return [];
  return normalised([...ranges, ...codePointsOf(new RegExp(`^[${members}]$`, 'iu'), LAST_CASED)]);
}

/** The node that matches one of the code points up to 255, as a byte. */
export function byteNode(ranges: CodePoints): PatternNode {
  const set = new Uint8Array(256);
  for (const [low, high] of ranges) if (low <= 0xff) set.fill(1, low, Math.min(high, 0xff) + 1);
  return { kind: 'set', set };
}

/** The node that matches one of the code points in UTF-8. */
export function utf8Node(ranges: CodePoints): PatternNode {
  const branches: PatternNode[] = [];
  const ascii = ranges.filter(([low]) => low < 0x80).map(([low, high]) => [low, Math.min(high, 0x7f)] as const);
  if (ascii.length > 0) branches.push(byteNode(ascii));
  for (const [low, high] of ranges) {
    for (const [first, last] of LENGTHS) {
      const from = Math.max(low, first);
      const to = Math.min(high, last);
      if (from <= to && first > 0) addSequences(branches, encode(from), encode(to));
    }
  }
  const [only] = branches;
  if (only === undefined) return { kind: 'fail' };
  return branches.length === 1 ? only : { kind: 'alternation', branches };
}

/** Code points by the length of their encoding; surrogates have none. */
const LENGTHS = [
  [0, 0x7f],
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, LAST],
] as const;

function encode(code: number): number[] {
  return [...Buffer.from(String.fromCodePoint(code), 'utf8')];
}

/** Adds the byte sequences from `low` to `high`, two encodings of one length. */
function addSequences(
  branches: PatternNode[],
  low: readonly number[],
  high: readonly number[],
  head: readonly PatternNode[] = [],
): void {
  const [lowByte = 0, ...lowRest] = low;
  const [highByte = 0, ...highRest] = high;
  if (lowRest.length === 0) {
    branches.push(sequence([...head, range(lowByte, highByte)]));
    return;
  }
  if (lowByte === highByte) {
    addSequences(branches, lowRest, highRest, [...head, range(lowByte, lowByte)]);
    return;
  }
  const least = lowRest.map(() => 0x80);
  const most = lowRest.map(() => 0xbf);
  const wholeLow = lowRest.every((byte) => byte === 0x80);
  const wholeHigh = highRest.every((byte) => byte === 0xbf);
  if (!wholeLow) addSequences(branches, lowRest, most, [...head, range(lowByte, lowByte)]);
  const from = wholeLow ? lowByte : lowByte + 1;
  const to = wholeHigh ? highByte : highByte - 1;
  if (from <= to) {
    branches.push(sequence([...head, range(from, to), ...least.map((byte, i) => range(byte, most[i] ?? 0xbf))]));
  }
  if (!wholeHigh) addSequences(branches, least, highRest, [...head, range(highByte, highByte)]);
}

function range(low: number, high: number): PatternNode {
  return { kind: 'set', set: setOf((byte) => byte >= low && byte <= high) };
}

function sequence(items: readonly PatternNode[]): PatternNode {
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'sequence', items };
}
