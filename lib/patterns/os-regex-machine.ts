import { FOLD } from './fold-ascii.js';
import type { MatchState } from './match-state.js';
import {
  ALL_TABLES,
  LAST,
  LEAVE,
  LITERAL,
  MARK,
  MARK_NUMBER,
  NODE_SIZE,
  type OsRegexCode,
  OUTSIDE,
  PLUS,
  STAR,
  STAY,
  TAIL,
  TARGET,
  VALUE,
} from './os-regex-code.js';
import { endsAt } from './os-regex-end.js';
import type { Subject } from './subject.js';

/** Offset that is not there; -1 is a valid `last`. */
export const NONE = -2;

/** Choice points kept; results depend on the number (decoding.md 1.3.4). */
const SLOTS = 4;
/** Bytes that the plain loops of repeats and searches pass in the time of one step. */
const BYTES_A_STEP_SHIFT = 3;
/** Beginning a search for a text once more, whose bytes were counted before. */
const SEARCH_STEPS = 4;

/**
 * Runs alternatives of OS_Regex over subjects: the scan of decoding.md 1.3.4, whose rule letters are in the comments.
 * What it skips is bytes at which the rules would change nothing but `s` and `last`.
 */
export class OsRegexMachine {
  /** After a match: offset of "the last byte matched" in the whole subject; one less than `begin` where there is none. */
  end = NONE;
  /** After a match: offsets of the marks in the whole subject, NONE where not passed. */
  marks = new Int32Array(16);
  readonly #slotNodes = new Int32Array(SLOTS);
  readonly #slotOffsets = new Int32Array(SLOTS);

  /**
   * @param begin offset at which the subject is taken to begin
   * @param found offset at which the code's `longPrefix` stands first in the subject; -1: not known
   */
  // oxlint-disable-next-line max-lines-per-function -- an interpreter's loop: calls between its steps would slow it down
  run(code: OsRegexCode, subject: Subject, context: MatchState, begin: number, found: number): boolean {
    const { program, anchoredStart, anchoredEnd, head } = code;
    const end = code.length * NODE_SIZE;
    const tables = ALL_TABLES.bytes;
    if (code.marks > this.marks.length) this.marks = new Int32Array(code.marks);
    const marks = this.marks;
    for (let i = 0; i < code.marks; i += 1) marks[i] = NONE;
    const slotNodes = this.#slotNodes;
    const slotOffsets = this.#slotOffsets;
    const all = subject.bytes;
    const size = subject.length;
    let steps = context.stepsLeft - (code.marks >> BYTES_A_STEP_SHIFT);
    let searched = false;
    let p = 0;
    let s = begin;
    let last = begin;
    let rep = false;
    let retry = NONE;
    let slots = 0;

    scan: while (s < size) {
      if (p === 0 && !anchoredStart && slots === 0 && retry === NONE) {
        // Nothing is under way: go to where the first element takes a byte. On the way each step would fail by rule D.
        const from = s;
        const prefix = rep ? code.prefix : code.longPrefix;
        if (prefix !== '') {
          // The pieces of the search do not overlap: together they are one pass.
          if (found >= s) {
            s = found;
          } else {
            steps -= searched ? SEARCH_STEPS : subject.searchSteps(prefix.charCodeAt(0));
            searched = true;
            s = subject.foldedText.indexOf(prefix, s);
          }
          if (s < 0) {
            context.stepsLeft = steps;
            return steps < 0 && context.giveUp();
          }
          retry = s;
          if (code.headMark) marks[0] = s;
          s += prefix.length;
          last = s - 1;
          p = (code.firstNode + prefix.length) * NODE_SIZE;
          continue;
        }
        if (code.inner !== '' && !rep) {
          steps -= searched ? SEARCH_STEPS : subject.searchSteps(code.inner.charCodeAt(0));
          searched = true;
          s = subject.foldedText.indexOf(code.inner, s + code.innerOffset) - code.innerOffset;
          if (s < from) {
            context.stepsLeft = steps;
            return steps < 0 && context.giveUp();
          }
        } else if (head !== undefined && !(code.headRepeats && rep)) {
          while (s < size && head[all[s] ?? 0] === 0) s += 1;
          if (s > from) {
            last = NONE;
            rep = false;
            steps -= (s - from) >> BYTES_A_STEP_SHIFT;
            if (s === size) break;
          }
        }
      }
      steps -= 1;
      if (steps < 0) return context.giveUp();
      const byte = all[s] ?? 0;
      attempt: for (;;) {
        // A
        if (p === end) {
          if (!anchoredEnd) return this.#accept(code, last, steps, context);
          break;
        }
        let kind = program[p] ?? LITERAL;
        if (kind === MARK) {
          marks[program[p + MARK_NUMBER] ?? 0] = s;
          p += NODE_SIZE;
          if (p === end) {
            if (!anchoredEnd) return this.#accept(code, last, steps, context);
            break;
          }
          kind = program[p] ?? LITERAL;
        }
        if (kind === LITERAL || kind === MARK) {
          // C
          if (program[p + VALUE] !== FOLD[byte]) break;
          p += NODE_SIZE;
          if (retry === NONE) retry = s;
          last = s;
          s += 1;
          continue scan;
        }
        const table = (program[p + VALUE] ?? 0) << 8;
        const decision = tables[table + byte] ?? OUTSIDE;
        if (decision !== OUTSIDE) {
          if (kind !== PLUS && kind !== STAR) {
            // B.1
            p += NODE_SIZE;
            if (retry === NONE) retry = s;
            last = s;
            s += 1;
            continue scan;
          }
          // B.2
          if (kind === STAR) rep = true;
          const mark = program[p + MARK_NUMBER] ?? -1;
          if (!rep) {
            // B.4
            if (mark >= 0) marks[mark] = s + 1 === size ? size : s;
            rep = true;
            last = s;
            s += 1;
            continue scan;
          }
          // B.3
          if (decision === STAY) {
            const from = s;
            do s += 1;
            while (s < size && tables[table + (all[s] ?? 0)] === STAY);
            last = s - 1;
            steps -= (s - from) >> BYTES_A_STEP_SHIFT;
            continue scan;
          }
          if (decision === LAST) {
            const from = s;
            do s += 1;
            while (s < size && tables[table + (all[s] ?? 0)] === LAST);
            if (mark >= 0) marks[mark] = s;
            steps -= (s - from) >> BYTES_A_STEP_SHIFT;
            continue scan;
          }
          if (mark >= 0) marks[mark] = s;
          if (slots < SLOTS) {
            slotNodes[slots] = p;
            slotOffsets[slots] = s;
            slots += 1;
          }
          if (decision === LEAVE) rep = false;
          p = (program[p + TARGET] ?? 0) * NODE_SIZE;
          last = s;
          s += 1;
          continue scan;
        }
        // B'
        if (rep && last !== NONE && program[p + TAIL] === 1) {
          last = s;
          if (!anchoredEnd) return this.#accept(code, last, steps, context);
          rep = false;
          break;
        }
        if (kind === STAR) {
          last = s - 1;
        } else if (kind !== PLUS || !rep) {
          rep = false;
          break;
        }
        p += NODE_SIZE;
        rep = false;
        continue attempt;
      }
      // D
      if (slots > 0) {
        slots -= 1;
        p = slotNodes[slots] ?? 0;
        s = (slotOffsets[slots] ?? 0) + 1;
        continue;
      }
      if (anchoredStart) {
        context.stepsLeft = steps;
        return false;
      }
      if (retry !== NONE) {
        s = retry;
        retry = NONE;
      }
      s += 1;
      p = 0;
      last = NONE;
    }
    context.stepsLeft = steps;
    return this.#atEnd(code, p / NODE_SIZE, rep, size) && this.#accept(code, last, steps, context);
  }

  /** E: whether the alternative may end at node `p` because the subject does; a mark that is reached is at the end. */
  #atEnd(code: OsRegexCode, p: number, rep: boolean, size: number): boolean {
    const { length, kinds, marks } = code;
    if (marks > 0) {
      let cursor = p;
      while (cursor < length && kinds[cursor] === STAR) cursor += 1;
      if (cursor < length && kinds[cursor] === MARK) this.marks[code.markNumbers[cursor] ?? 0] = size;
    }
    return endsAt(code, p, rep);
  }

  #accept(code: OsRegexCode, last: number, steps: number, context: MatchState): boolean {
    context.stepsLeft = steps;
    if (last === NONE) return false;
    const marks = this.marks;
    for (let mark = 0; mark + 1 < code.marks; mark += 2) {
      const open = marks[mark] ?? NONE;
      const close = marks[mark + 1] ?? NONE;
      if (open === NONE || close === NONE) break;
      if (close < open) return false;
    }
    this.end = last;
    return true;
  }
}
