import { Literal } from './literal.js';
import type { MatchContext } from './matcher.js';
import { type Opening, openingOf } from './opening.js';
import { codeOf, type OsRegexCode, type OsRegexDraft, type OsRegexText } from './os-regex-code.js';
import { NONE } from './os-regex-machine.js';
import type { ByteTable } from './os-regex-parse.js';
import { RegularAlternative } from './os-regex-regular.js';
import { ShortAlternative } from './os-regex-short.js';
import type { Subject } from './subject.js';

/** An alternative is hot that is run again after so many runs of others at most. */
const HOT_RUNS = 64;

/** Runs one alternative of an OS_Regex: as a plain text, in its regular or short form where it has one, or on our own machine. */
export class OsRegexRunner {
  /** What no match goes without, and with `^` the bytes it begins with. */
  readonly pairs: Uint16Array;
  readonly texts: readonly string[];
  readonly start: ByteTable | undefined;
  readonly opening: (() => Opening) | undefined;
  readonly #literal: Literal | undefined;
  readonly #draft: OsRegexDraft | undefined;
  /** Of an alternative with a draft, once it has been asked for. */
  #code: OsRegexCode | undefined = undefined;
  /** Null = there is none; undefined = nobody has asked yet. */
  #regular: RegularAlternative | null | undefined = undefined;
  /** Known when `#regular` is. */
  #short: ShortAlternative | undefined = undefined;
  /** Number of the last run among those of the context. */
  #lastRun = -HOT_RUNS;

  constructor(alternative: OsRegexDraft | OsRegexText) {
    const { anchoredStart, anchoredEnd } = alternative;
    if ('text' in alternative) {
      this.#literal = new Literal(alternative.text, anchoredStart, anchoredEnd);
      this.#draft = undefined;
      this.pairs = this.#literal.requirement.pairs;
      this.texts = this.#literal.requirement.texts;
      this.start = this.#literal.requirement.start;
      this.opening = this.#literal.requirement.opening;
    } else {
      this.#literal = undefined;
      this.#draft = alternative;
      this.pairs = alternative.pairs;
      this.texts = alternative.texts;
      this.start = alternative.start;
      this.opening = anchoredStart ? () => openingOf(this.#codeOf(alternative)) : undefined;
    }
  }

  /** Makes the code. */
  prepare(): void {
    if (this.#draft !== undefined) this.#codeOf(this.#draft);
  }

  /** Whether the work may be more than linear, see `OsRegexCode`. */
  get branching(): boolean {
    return this.#draft !== undefined && this.#codeOf(this.#draft).branching;
  }

  /**
   * Whether the subject matches from `from` on; sets `end`, `captures` and `captureCount` of the context.
   * @param found offset at which the first of `texts` stands first in the subject; -1: not known
   */
  run(subject: Subject, context: MatchContext, from: number, found: number): boolean {
    const { start } = this;
    if (start !== undefined && subject.length > from && start[subject.bytes[from] ?? 0] === 0) return false;
    if (!subject.mayContain(this.pairs)) return false;
    const code = this.#code ?? (this.#draft === undefined ? undefined : this.#codeOf(this.#draft));
    if (code === undefined) return this.#find(subject, context, from);
    const regular = this.#regular === undefined ? this.#toRegular(code) : this.#regular;
    if (this.#short !== undefined) return this.#short.run(subject, context, from, found);
    const steps = regular?.steps(subject, from) ?? -1;
    if (regular === null || steps < 0) {
      return runMachine(code, subject, context, from, code.longPrefix === code.texts[0] ? found : -1);
    }
    context.stepsLeft -= steps;
    if (context.stepsLeft < 0) return context.giveUp();
    return this.#isHot(context) ? regular.run(subject, context, from) : runUncounted(code, subject, context, from);
  }

  /**
   * Whether the alternative was run a short time ago. V8's code for an expression is kilobytes, our tables are not: what is run
   * once in a while is faster on our machine. Both give the same and count the same.
   */
  #isHot(context: MatchContext): boolean {
    const run = (context.regularRuns += 1);
    const since = run - this.#lastRun;
    this.#lastRun = run;
    return since >= 0 && since <= HOT_RUNS;
  }

  #find(subject: Subject, context: MatchContext, from: number): boolean {
    const behind = this.#literal?.find(subject, context, from) ?? -1;
    if (context.stepsLeft < 0) return context.giveUp();
    if (behind < 0) return false;
    // An empty text matches with offset 0 reported.
    context.end = behind === from ? 0 : behind - 1 - from;
    context.captureCount = 0;
    return true;
  }

  #codeOf(draft: OsRegexDraft): OsRegexCode {
    return (this.#code ??= codeOf(draft));
  }

  #toRegular(code: OsRegexCode): RegularAlternative | null {
    this.#short = ShortAlternative.of(code);
    return (this.#regular = RegularAlternative.of(code) ?? null);
  }
}

/** Runs the machine where the steps have been taken already. */
function runUncounted(code: OsRegexCode, subject: Subject, context: MatchContext, from: number): boolean {
  const { stepsLeft } = context;
  context.stepsLeft = Number.MAX_SAFE_INTEGER;
  const matched = runMachine(code, subject, context, from, -1);
  context.stepsLeft = stepsLeft;
  return matched;
}

function runMachine(code: OsRegexCode, subject: Subject, context: MatchContext, from: number, found: number): boolean {
  const machine = context.osRegex;
  if (!machine.run(code, subject, context, from, found)) return false;
  const { marks } = machine;
  let count = 0;
  for (let mark = 0; mark + 1 < code.marks; mark += 2) {
    const open = marks[mark] ?? NONE;
    const close = marks[mark + 1] ?? NONE;
    if (open === NONE || close === NONE) break;
    context.captures[count] = subject.text.slice(open, close);
    count += 1;
  }
  context.captureCount = count;
  context.end = machine.end - from;
  return true;
}
