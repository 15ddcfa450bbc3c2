import { isErrno } from '../files/is-errno.js';
import { bytesOf, readable } from '../fim/byte-order.js';
import { SYSTEM_TREE } from '../rootcheck/tree-calls.js';
import { FOUND, invalid, NOT_FOUND, type Outcome } from './finding.js';
import type { LinePattern } from './line-pattern.js';
import { MOST_FILE_BYTES, MOST_LINE_BYTES, MOST_RULE_BYTES } from './look-limits.js';
import type { StepBudget } from './step-budget.js';
import { isSystemError, systemReason } from './system-reason.js';

/** What one rule may use up. */
export type LookBudget = { readonly steps: StepBudget; bytesLeft: number };

export function newLookBudget(steps: StepBudget): LookBudget {
  return { steps, bytesLeft: MOST_RULE_BYTES };
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Whether there is a regular file, links resolved. @param path byte string */
export function fileExists(path: string): Outcome {
  try {
    const stats = SYSTEM_TREE.lstat(bytesOf(SYSTEM_TREE.real(path)));
    if (stats === undefined) return NOT_FOUND;
    return stats.isFile() ? FOUND : notRegular(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return NOT_FOUND;
    return invalid(`Could not resolve the real path of '${readable(path)}': ${systemReason(error)}`);
  }
}

/** Whether a line of a file is as a pattern says. What is no regular file is never opened. @param path byte string */
export function fileMatches(path: string, pattern: LinePattern, budget: LookBudget): Outcome {
  const exists = fileExists(path);
  if (exists.finding === 'not-found') return couldNotOpen(path);
  if (exists.finding === 'invalid') return exists;
  let descriptor: number | undefined;
  try {
    // By its real path: a link that was put there since is refused, and a pipe not waited for.
    descriptor = SYSTEM_TREE.open(bytesOf(SYSTEM_TREE.real(path)));
    if (!SYSTEM_TREE.fstat(descriptor).isFile()) return notRegular(path);
    return readLines(descriptor, path, pattern, budget);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return couldNotOpen(path);
  } finally {
    if (descriptor !== undefined) SYSTEM_TREE.close(descriptor);
  }
}

/** Whether one of these lines is as a pattern says. @param lines byte strings */
export function someLine(lines: Iterable<string>, pattern: LinePattern, steps: StepBudget): Outcome {
  let result = NOT_FOUND;
  for (const line of lines) {
    const outcome = pattern.test(line, steps);
    if (outcome.finding === 'found') return outcome;
    if (outcome.finding === 'invalid' && result.finding !== 'invalid') result = outcome;
  }
  return result;
}

function readLines(fd: number, path: string, pattern: LinePattern, budget: LookBudget): Outcome {
  let tooLarge = false;
  const outcome = someLine(
    linesOf(fd, budget, () => {
      tooLarge = true;
    }),
    pattern,
    budget.steps,
  );
  if (!tooLarge || outcome.finding === 'found') return outcome;
  return invalid(`'${readable(path)}' is too large: only its beginning was looked at`);
}

/** Lines of a file without their ends, as far as they are read; the rest of one that is too long is left out. */
function* linesOf(fd: number, budget: LookBudget, tooLarge: () => void): Generator<string> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let held = '';
  let left = Math.min(MOST_FILE_BYTES, budget.bytesLeft);
  const take = (from: number, to: number): void => {
    held += chunk.toString('latin1', from, Math.min(to, from + Math.max(0, MOST_LINE_BYTES - held.length)));
  };
  const next = (): number => SYSTEM_TREE.read(fd, chunk, chunk.length);
  for (let read = next(); read > 0; read = next()) {
    budget.bytesLeft -= read;
    left -= read;
    if (left < 0) return tooLarge();
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < read; at = chunk.indexOf(NEWLINE, start)) {
      take(start, at);
      yield withoutEnd(held);
      held = '';
      start = at + 1;
    }
    take(start, read);
  }
  if (held !== '') yield withoutEnd(held);
}

/** A pattern sees no NUL: text may not be hidden behind one. */
function withoutEnd(line: string): string {
  const end = line.endsWith('\r') ? line.slice(0, -1) : line;
  return end.includes('\0') ? end.replaceAll('\0', '') : end;
}

function couldNotOpen(path: string): Outcome {
  return invalid(`Could not open file '${readable(path)}'`);
}

function notRegular(path: string): Outcome {
  return invalid(`FILE_EXISTS(${readable(path)}) -> RETURN_INVALID: Not a regular file.`);
}
