import { hash } from 'node:crypto';
import { cutDiff } from '../../../lib/events/fim/cut-diff.js';
import { editScript, type Hunk } from './edit-script.js';

/** Longest text of changes, in bytes (integrity-and-inventory.md 3.10). */
export const MAX_DIFF_BYTES = 59_391;

/** Beginning of a file in which a zero byte makes it one of bytes, not of lines. */
export const BINARY_LOOK_BYTES = 32 * 1024;
/** Lines between the first and the last difference that are compared one by one; of more, all count as changed. */
const MOST_LINES = 400_000;
/** Lines that can be shown at all: each takes three bytes at least. */
const SHOWN_LINES = Math.ceil(MAX_DIFF_BYTES / 3) + 1;
/** Lines beyond this length are compared by their digest, so that they are not in memory twice. */
const LONG_LINE_BYTES = 48;
/** Bytes that are compared at a time. */
const STRIDE = 64 * 1024;
const NEWLINE = 0x0a;

/** Texts of report_changes that stand for a diff (integrity-and-inventory.md 3.10). */
export const NO_DIFF = {
  fileSize: "Unable to calculate diff due to 'file_size' limit has been reached.",
  diskQuota: "Unable to calculate diff due to 'disk_quota' limit has been reached.",
  noPrevious: 'Unable to calculate diff due to no previous data stored for this file.',
  noChanges: 'No content changes were found for this file.',
  nodiff: "Diff truncated due to 'nodiff' configuration detected for this file.",
} as const;

/** What stands for the changes of a file that is not text. */
export function binaryDiff(names: { readonly before: string; readonly after: string }): string {
  return `Binary files ${names.before} and ${names.after} differ\n`;
}

/**
 * What changed between two texts that differ, in diff's normal format (integrity-and-inventory.md 3.10), cut to
 * `MAX_DIFF_BYTES`. Time and memory are bounded: what differs in too many lines is shown as one change.
 * @param linesBefore lines that both files have in front of these
 * @returns byte string
 */
export function linesDiff(before: Buffer, after: Buffer, linesBefore: number): string {
  const start = lineStart(before, sharedStart(before, after));
  const shared = sharedEnd(before, after, start);
  const oldLines = splitLines(before, start, before.length - shared);
  const newLines = splitLines(after, start, after.length - shared);
  const context = linesBefore + countLines(before, 0, start);
  const writer = new DiffWriter(before, after, oldLines, newLines, context);
  for (const hunk of hunksOf(before, after, oldLines, newLines)) if (!writer.write(hunk)) break;
  return cutDiff(writer.text, MAX_DIFF_BYTES);
}

/** A text of which only the beginning is at hand: `MAX_DIFF_BYTES` of it, or all. */
export type TextPart = {
  readonly beginning: Buffer;
  /** Lines of the whole text, one without a newline at its end included. */
  readonly lines: number;
};

/**
 * The same for texts too large to be compared line by line: all of one became all of the other.
 * @param linesBefore lines that both files have in front of these
 */
export function wholeDiff(before: TextPart, after: TextPart, linesBefore: number): string {
  const [oldLines, newLines] = [before, after].map(({ beginning, lines }) => ({
    offsets: lineOffsets(beginning, 0, beginning.length, Math.min(lines, SHOWN_LINES)),
    count: lines,
  })) as [DiffLines, DiffLines];
  const writer = new DiffWriter(before.beginning, after.beginning, oldLines, newLines, linesBefore);
  writer.write(wholeHunk(oldLines, newLines));
  return cutDiff(writer.text, MAX_DIFF_BYTES);
}

/** Lines of a text. */
type DiffLines = {
  /** Of each its start, and at last where the last ends; of more than can be compared only those that can be shown. */
  readonly offsets: Int32Array;
  readonly count: number;
};

class DiffWriter {
  text = '';
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #oldLines: DiffLines;
  readonly #newLines: DiffLines;
  readonly #context: number;

  /** @param context lines that both have in front of these */
  constructor(before: Buffer, after: Buffer, oldLines: DiffLines, newLines: DiffLines, context: number) {
    this.#before = before;
    this.#after = after;
    this.#oldLines = oldLines;
    this.#newLines = newLines;
    this.#context = context;
  }

  /** @returns whether there is room for more */
  write({ oldFrom, oldTo, newFrom, newTo }: Hunk): boolean {
    const letter = oldFrom === oldTo ? 'a' : newFrom === newTo ? 'd' : 'c';
    this.text += `${this.#range(oldFrom, oldTo)}${letter}${this.#range(newFrom, newTo)}\n`;
    this.#lines('< ', this.#before, this.#oldLines, oldFrom, oldTo);
    if (letter === 'c') this.text += '---\n';
    this.#lines('> ', this.#after, this.#newLines, newFrom, newTo);
    return this.text.length <= MAX_DIFF_BYTES;
  }

  /** Lines counted from 1; of none the one before. */
  #range(from: number, to: number): string {
    const first = this.#context + from + 1;
    const last = this.#context + to;
    return first >= last ? String(last) : `${first},${last}`;
  }

  #lines(mark: string, content: Buffer, lines: DiffLines, from: number, to: number): void {
    for (let line = from; line < to && this.text.length <= MAX_DIFF_BYTES; line += 1) {
      const start = lines.offsets[line] ?? 0;
      const end = lines.offsets[line + 1] ?? start;
      // Of a line that is longer than all there is room for, its beginning decides that it is cut off.
      this.text += mark + content.toString('latin1', start, Math.min(end, start + MAX_DIFF_BYTES + 1));
      if (content[end - 1] !== NEWLINE) this.text += '\n\\ No newline at end of file\n';
    }
  }
}

function hunksOf(before: Buffer, after: Buffer, oldLines: DiffLines, newLines: DiffLines): Hunk[] {
  if (oldLines.count > MOST_LINES || newLines.count > MOST_LINES) return [wholeHunk(oldLines, newLines)];
  const numbers = new Map<string, number>();
  return editScript(numbered(before, oldLines, numbers), numbered(after, newLines, numbers));
}

function wholeHunk(oldLines: DiffLines, newLines: DiffLines): Hunk {
  return { oldFrom: 0, oldTo: oldLines.count, newFrom: 0, newTo: newLines.count };
}

function numbered(content: Buffer, { offsets, count }: DiffLines, numbers: Map<string, number>): Int32Array {
  const result = new Int32Array(count);
  for (let line = 0; line < count; line += 1) {
    const text = lineKey(content, offsets[line] ?? 0, offsets[line + 1] ?? 0);
    let number = numbers.get(text);
    if (number === undefined) numbers.set(text, (number = numbers.size));
    result[line] = number;
  }
  return result;
}

/** The line itself, or of a long one its digest behind a mark that no short line has in its place. */
function lineKey(content: Buffer, start: number, end: number): string {
  if (end - start <= LONG_LINE_BYTES) return content.toString('latin1', start, end);
  return `\u0100${hash('sha256', content.subarray(start, end), 'base64url')}`;
}

/** Whether a file that begins so is none of lines. */
export function isBinary(content: Buffer): boolean {
  return content.subarray(0, BINARY_LOOK_BYTES).includes(0);
}

/** Number of bytes that both begin with. */
export function sharedStart(first: Buffer, second: Buffer): number {
  const most = Math.min(first.length, second.length);
  let at = 0;
  while (at < most) {
    const end = Math.min(at + STRIDE, most);
    if (first.compare(second, at, end, at, end) !== 0) break;
    at = end;
  }
  while (at < most && first[at] === second[at]) at += 1;
  return at;
}

/** Bytes of whole lines that both end with, behind what they begin with. */
function sharedEnd(first: Buffer, second: Buffer, start: number): number {
  const most = Math.min(first.length, second.length) - start;
  let shared = 0;
  while (shared < most) {
    const next = Math.min(shared + STRIDE, most);
    const [a, b] = [first.length, second.length];
    if (first.compare(second, b - next, b - shared, a - next, a - shared) !== 0) break;
    shared = next;
  }
  while (shared < most && first[first.length - shared - 1] === second[second.length - shared - 1]) shared += 1;
  // The shared part begins where a line does in both.
  while (shared > 0 && !(startsLine(first, shared, start) && startsLine(second, shared, start))) {
    const newline = first.indexOf(NEWLINE, first.length - shared);
    shared = newline < 0 ? 0 : first.length - newline - 1;
  }
  return shared;
}

function startsLine(content: Buffer, shared: number, start: number): boolean {
  const at = content.length - shared;
  return at === start || content[at - 1] === NEWLINE;
}

/** Where the line begins that an offset is in. */
function lineStart(content: Buffer, offset: number): number {
  return offset === 0 ? 0 : content.lastIndexOf(NEWLINE, offset - 1) + 1;
}

function splitLines(content: Buffer, from: number, to: number): DiffLines {
  const ended = countLines(content, from, to);
  const count = to === from || content[to - 1] === NEWLINE ? ended : ended + 1;
  return { offsets: lineOffsets(content, from, to, count > MOST_LINES ? SHOWN_LINES : count), count };
}

/** @param count lines whose offsets are wanted, at most as many as there are */
function lineOffsets(content: Buffer, from: number, to: number, count: number): Int32Array {
  const offsets = new Int32Array(count + 1);
  offsets[0] = from;
  for (let line = 1, at = from; line <= count; line += 1) {
    const newline = content.indexOf(NEWLINE, at);
    offsets[line] = at = newline < 0 || newline >= to ? to : newline + 1;
  }
  return offsets;
}

/** Newlines from one offset to another. */
export function countLines(content: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; (at = content.indexOf(NEWLINE, at) + 1) > 0 && at <= to;) count += 1;
  return count;
}
