import type { MatchContext, Matcher } from './matcher.js';
import {
  CLASS,
  compileOsRegex,
  foldByte,
  LITERAL,
  MARK,
  NO_QUANTIFIER,
  PLUS,
  STAR,
  type OsRegexProgram,
} from './os-regex-program.js';

const NONE = -2;
/** The reference keeps four pending choice points, and results depend on it (decoding.md 1.3.4). */
const SLOTS = 4;

/**
 * OS_Regex, as the single forward scan with four choice points that decoding.md 1.3.4 describes. Rule letters in the
 * comments are those of the section.
 */
export class OsRegex implements Matcher {
  readonly language = 'osregex';
  readonly source: string;
  readonly cost = 'guarded';
  readonly #programs: readonly OsRegexProgram[];
  readonly #marks: Int32Array;
  readonly #slotElement = new Int32Array(SLOTS);
  readonly #slotOffset = new Int32Array(SLOTS);
  #end = NONE;

  /** @throws PatternError see `compileOsRegex` */
  constructor(source: string) {
    this.source = source;
    this.#programs = compileOsRegex(source);
    this.#marks = new Int32Array(Math.max(...this.#programs.map((program) => program.marks)));
  }

  test(subject: string, context: MatchContext): boolean {
    for (const program of this.#programs) if (this.#run(program, subject, context)) return true;
    return false;
  }

  exec(subject: string, context: MatchContext): boolean {
    for (const program of this.#programs) {
      if (!this.#run(program, subject, context)) continue;
      const marks = this.#marks;
      let count = 0;
      for (let mark = 0; mark + 1 < program.marks; mark += 2) {
        const open = marks[mark] ?? NONE;
        const close = marks[mark + 1] ?? NONE;
        if (open === NONE || close === NONE) break;
        context.captures[count] = subject.slice(open, close);
        count += 1;
      }
      context.captureCount = count;
      context.end = this.#end;
      return true;
    }
    return false;
  }

  /** One alternative over the whole subject. */
  #run(program: OsRegexProgram, subject: string, context: MatchContext): boolean {
    const { length, kinds, bytes, sets, quantifiers, markNumbers, anchoredStart, anchoredEnd } = program;
    const marks = this.#marks.fill(NONE);
    const slotElement = this.#slotElement;
    const slotOffset = this.#slotOffset;
    const size = subject.length;
    let steps = context.stepsLeft;
    let p = 0;
    let s = 0;
    let last = 0;
    let rep = false;
    let retry = NONE;
    let slots = 0;

    scan: for (; s < size; s += 1) {
      steps -= 1;
      if (steps < 0) {
        context.stepsLeft = 0;
        context.exhausted = true;
        return false;
      }
      const raw = subject.charCodeAt(s);
      const folded = foldByte(raw);
      redo: for (;;) {
        // A
        if (p < length && kinds[p] === MARK) {
          marks[markNumbers[p] ?? 0] = s;
          p += 1;
        }
        if (p >= length) {
          if (!anchoredEnd) return this.#accept(program, last, steps, context);
        } else if (kinds[p] === CLASS) {
          const quantifier = quantifiers[p];
          if (sets[p]?.[raw] === 1) {
            if (quantifier === NO_QUANTIFIER) {
              p += 1;
              if (retry === NONE) retry = s;
              last = s;
              continue scan;
            }
            if (quantifier === STAR) rep = true;
            if (!rep) {
              // B.4
              if (p + 2 < length && kinds[p + 2] === MARK) {
                marks[markNumbers[p + 2] ?? 0] = s + 1 === size ? s + 1 : s;
              }
              rep = true;
              last = s;
              continue scan;
            }
            // B.3
            let next = p + 2;
            let skipped = NONE;
            if (next < length && kinds[next] === MARK) {
              skipped = next;
              next += 1;
            }
            if (next >= length) {
              if (skipped !== NONE) marks[markNumbers[skipped] ?? 0] = s + 1;
              continue scan;
            }
            let target = NONE;
            if (kinds[next] === CLASS) {
              if (sets[next]?.[raw] === 1) target = quantifiers[next] === NO_QUANTIFIER ? next + 1 : next;
            } else if (bytes[next] === folded) {
              rep = false;
              target = next + 1;
            }
            if (target !== NONE) {
              if (skipped !== NONE) marks[markNumbers[skipped] ?? 0] = s;
              if (slots < SLOTS) {
                slotElement[slots] = p;
                slotOffset[slots] = s;
                slots += 1;
              }
              p = target;
            }
            last = s;
            continue scan;
          }
          // B'
          if (rep && last !== NONE && (p + 1 === length || p + 2 === length)) {
            last = s;
            if (!anchoredEnd) return this.#accept(program, last, steps, context);
            rep = false;
          } else if (quantifier === PLUS && rep) {
            p += 2;
            rep = false;
            continue redo;
          } else if (quantifier === STAR) {
            p += 2;
            last = s - 1;
            rep = false;
            continue redo;
          } else {
            rep = false;
          }
        } else if (bytes[p] === folded) {
          // C
          p += 1;
          if (retry === NONE) retry = s;
          last = s;
          continue scan;
        }
        // D
        if (slots > 0) {
          slots -= 1;
          p = slotElement[slots] ?? 0;
          s = slotOffset[slots] ?? 0;
        } else {
          if (anchoredStart) {
            context.stepsLeft = steps;
            return false;
          }
          if (retry !== NONE) {
            s = retry;
            retry = NONE;
          }
          p = 0;
          last = NONE;
        }
        continue scan;
      }
    }

    // E
    const isStarClass = (at: number): boolean => at < length && kinds[at] === CLASS && quantifiers[at] === STAR;
    const isMark = (at: number): boolean => at < length && kinds[at] === MARK;
    let cursor = p;
    while (isStarClass(cursor)) cursor += 2;
    if (isMark(cursor)) {
      marks[markNumbers[cursor] ?? 0] = size;
      p = cursor;
    }
    cursor = p;
    context.stepsLeft = steps;
    if (isMark(cursor)) cursor += 1;
    let accepted = cursor >= length;
    if (!accepted && kinds[cursor] === CLASS && rep) {
      cursor += 1;
      if (cursor < length && kinds[cursor] === LITERAL && (bytes[cursor] === PLUS || bytes[cursor] === STAR)) {
        cursor += 1;
        if (isMark(cursor)) cursor += 1;
        if (cursor >= length) accepted = true;
        else if (kinds[cursor] === CLASS) {
          cursor += 1;
          if (cursor < length && bytes[cursor] === STAR && kinds[cursor] === LITERAL) {
            cursor += 1;
            if (isMark(cursor)) cursor += 1;
            accepted = cursor >= length;
          }
        }
      }
    }
    if (!accepted && cursor < length && kinds[cursor] === CLASS) {
      cursor += 1;
      if (cursor < length && bytes[cursor] === STAR && kinds[cursor] === LITERAL) {
        cursor += 1;
        if (isMark(cursor)) cursor += 1;
        accepted = cursor >= length;
      }
    }
    return accepted && this.#accept(program, last, steps, context);
  }

  #accept(program: OsRegexProgram, last: number, steps: number, context: MatchContext): boolean {
    context.stepsLeft = steps;
    if (last === NONE) return false;
    const marks = this.#marks;
    for (let mark = 0; mark + 1 < program.marks; mark += 2) {
      const open = marks[mark] ?? NONE;
      const close = marks[mark + 1] ?? NONE;
      if (open === NONE || close === NONE) break;
      if (close < open) return false;
    }
    this.#end = last;
    return true;
  }
}
