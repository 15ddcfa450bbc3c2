import { isUtf8 } from 'node:buffer';
import type { MatchContext } from '../matcher.js';
import type { GradedMatcher, PatternGrowth } from '../pattern-growth.js';
import type { Requirements } from '../requirement.js';
import { SHORT, type Subject } from '../subject.js';
import { firstBytes, isAnchored, leadingRun } from './analyse.js';
import { type ByteSet, type Pattern, type PatternNode, someNode } from './ast.js';
import { setOf } from './byte-sets.js';
import { type CostModel, costModelOf, isBounded } from './cost-model.js';
import { parsePcre2 } from './parse.js';
import { certainlyCompiles, compileProgram, type Program } from './program.js';
import { type RequiredTexts, requiredTexts } from './required-texts.js';
import { toRegExp } from './to-reg-exp.js';

/**
 * Work (visits, see `CostModel`) up to which a pattern runs as a RegExp, which cannot be interrupted: about 0.2 ms. What
 * may take more runs on our own matcher, which counts.
 */
const MAX_REG_EXP_WORK = 100_000;
/**
 * Up to this work (some 10 us) the bound for any subject of that length is good enough, and the subject is not looked at.
 */
const SMALL_WORK = 8000;
/** Work for each byte that counts as linear whatever the length: 2 ms on the longest subject, and far less in practice. */
const LINEAR_WORK = 32;
/** V8 makes some eight visits in the time of one step of our own matcher. */
const VISITS_A_STEP_SHIFT = 3;
/** On a short subject: the bound is that for any subject, of which half is hardly ever taken. */
const SHORT_VISITS_A_STEP_SHIFT = VISITS_A_STEP_SHIFT + 1;
/** Bytes of a subject that are looked at for a bound in the time of one step, as a power of two. */
const LOOKED_AT_A_STEP_SHIFT = 4;
/** Bytes whose characters are checked in the time of one step, as a power of two. */
const UTF_BYTES_A_STEP_SHIFT = 8;
/** Groups whose texts are taken in the time of one step, as a power of two. */
const CAPTURES_A_STEP_SHIFT = 1;
/** Runs of a RegExp until V8 has machine code of it: it interprets the first. */
const RUNS_TO_COMPILE = 2;
/** Longest subject, and the lengths at which growth is looked at. */
const LONGEST = 65_536;

/** How a pattern is matched. */
type Plan = {
  readonly regExp: RegExp | undefined;
  readonly model: CostModel | undefined;
  /** Longest subject on which the work of the RegExp is small whatever it contains; -1 where there is none. */
  readonly smallLength: number;
  /** Steps that it takes on a byte of a short subject. */
  readonly shortSteps: number;
};

function planOf(root: PatternNode): Plan {
  const regExp = toRegExp(root, notBehindOf(root));
  const model = refersBack(root) ? undefined : costModelOf(root, isAnchored(root));
  const longest = regExp === undefined || model === undefined ? -1 : smallLength(model);
  const short = Math.max(1, Math.min(SHORT, longest));
  const shortSteps = (model?.boundFor(short) ?? 0) / short / (1 << SHORT_VISITS_A_STEP_SHIFT);
  return { regExp, model, smallLength: longest, shortSteps };
}

/**
 * PCRE2 in byte mode (decoding.md 1.4): as a RegExp where the result is the same and the work bounded, else by our own matcher.
 * A ruleset has hundreds of them and an event comes to a few: all but what tells whether the pattern compiles, and which
 * subjects it cannot match, is made when it is first needed.
 */
export class Pcre2 implements GradedMatcher {
  readonly language = 'pcre2';
  readonly source: string;
  readonly requirements: Requirements;
  readonly #utf: boolean;
  readonly #captureCount: number;
  /** Bytes with which the subject has to begin. */
  readonly #first: ByteSet | undefined;
  readonly #required: RequiredTexts;
  readonly #mayExplode: boolean;
  #program: Program | undefined;
  #plan: Plan | undefined;

  /** @throws PatternError for wrong syntax and for constructs that are not supported, which it names */
  constructor(source: string) {
    this.source = source;
    const pattern = searchable(parsePcre2(source));
    const { root } = pattern;
    this.#utf = pattern.utf;
    this.#captureCount = pattern.captures;
    this.#first = isAnchored(root) ? firstBytes(root) : undefined;
    this.#required = requiredTexts(root);
    this.requirements = this.#required.requirements(this.#first);
    this.#mayExplode = refersBack(root) || !isBounded(root);
    if (!certainlyCompiles(root)) this.#program = compileProgram(pattern, notBehindOf(root));
  }

  get cost(): 'linear' | 'guarded' {
    return this.#planned().smallLength >= LONGEST ? 'linear' : 'guarded';
  }

  get growth(): PatternGrowth {
    return growthOf(this.#planned().model);
  }

  get explodes(): boolean {
    return this.#mayExplode && this.growth === 'exponential';
  }

  /** Makes what matches need, and has V8 compile it, which else the first matches do. */
  prepare(): void {
    const { regExp } = this.#planned();
    if (regExp === undefined) this.#ownProgram();
    for (let run = 0; run < RUNS_TO_COMPILE; run += 1) regExp?.test('');
  }

  test(subject: string, context: MatchContext): boolean {
    const loaded = context.subject(subject);
    if (!this.#mayMatch(loaded, context)) return false;
    const regExp = this.#affordable(loaded, context);
    return regExp === undefined ? context.backtracking.run(this.#ownProgram(), loaded, context) : regExp.test(subject);
  }

  exec(text: string, context: MatchContext, from = 0): boolean {
    const subject = from === 0 ? text : text.slice(from);
    const loaded = context.subject(subject);
    if (!this.#mayMatch(loaded, context)) return false;
    const regExp = this.#affordable(loaded, context);
    const matched = regExp === undefined ? this.#execProgram(loaded, context) : execRegExp(regExp, subject, context);
    if (matched) context.stepsLeft -= this.#captureCount >> CAPTURES_A_STEP_SHIFT;
    return matched;
  }

  /** Takes no steps where it says no at once, so that patterns can be passed over by looking at what they require. */
  #mayMatch(subject: Subject, context: MatchContext): boolean {
    const first = this.#first;
    if (first !== undefined && (subject.length === 0 || first[subject.bytes[0] ?? 0] === 0)) return false;
    if (!this.#required.mayOccurIn(subject)) return false;
    if (!this.#utf) return true;
    context.stepsLeft -= subject.length >> UTF_BYTES_A_STEP_SHIFT;
    return !subject.hasHighByte || isUtf8(subject.bytes.subarray(0, subject.length));
  }

  /**
   * The RegExp, whose work has been taken off the steps left; undefined when the work on this subject is to be counted
   * step by step, also because its bound is more than what is left.
   */
  #affordable(subject: Subject, context: MatchContext): RegExp | undefined {
    const { regExp, model, smallLength, shortSteps } = this.#planned();
    if (regExp === undefined || model === undefined) return undefined;
    const length = subject.length;
    if (length < SHORT && length <= smallLength) {
      context.stepsLeft -= 1 + Math.floor(length * shortSteps);
      return context.stepsLeft < 0 ? undefined : regExp;
    }
    const before = subject.lookedAt;
    const work = model.boundOn(subject);
    context.stepsLeft -= (subject.lookedAt - before) >> LOOKED_AT_A_STEP_SHIFT;
    if (work > Math.max(MAX_REG_EXP_WORK, LINEAR_WORK * length)) return undefined;
    const steps = 1 + Math.floor(work / (1 << VISITS_A_STEP_SHIFT));
    if (steps > context.stepsLeft) return undefined;
    context.stepsLeft -= steps;
    return regExp;
  }

  #planned(): Plan {
    return (this.#plan ??= planOf(this.#tree().root));
  }

  #ownProgram(): Program {
    if (this.#program === undefined) {
      const pattern = this.#tree();
      this.#program = compileProgram(pattern, notBehindOf(pattern.root));
    }
    return this.#program;
  }

  /** The pattern is read anew: its tree takes more memory than what is made of it, and most patterns need neither. */
  #tree(): Pattern {
    return searchable(parsePcre2(this.source));
  }

  #execProgram(subject: Subject, context: MatchContext): boolean {
    const machine = context.backtracking;
    if (!machine.run(this.#ownProgram(), subject, context)) return false;
    const { registers } = machine;
    let count = 0;
    for (let group = 1; group <= this.#captureCount; group += 1) {
      const start = registers[2 * group] ?? -1;
      if (start >= 0) count = group;
      context.captures[group - 1] = start < 0 ? '' : subject.text.slice(start, registers[2 * group + 1]);
    }
    context.captureCount = count;
    context.end = (registers[1] ?? 0) - 1;
    return true;
  }
}

/** Whether what a part matches depends on what others did. */
function refersBack(root: PatternNode): boolean {
  return someNode(root, ({ kind }) => kind === 'back-reference' || kind === 'call' || kind === 'conditional');
}

function notBehindOf(root: PatternNode): ByteSet | undefined {
  return isAnchored(root) || refersBack(root) ? undefined : leadingRun(root);
}

function execRegExp(regExp: RegExp, subject: string, context: MatchContext): boolean {
  const match = regExp.exec(subject);
  if (match === null) return false;
  let count = match.length - 1;
  while (count > 0 && match[count] === undefined) count -= 1;
  for (let group = 1; group <= count; group += 1) context.captures[group - 1] = match[group] ?? '';
  context.captureCount = count;
  context.end = match.index + match[0].length - 1;
  return true;
}

/** In UTF mode a match does not begin inside a character. */
function searchable(pattern: Pattern): Pattern {
  if (!pattern.utf || firstBytes(pattern.root) !== undefined) return pattern;
  const inside: PatternNode = { kind: 'set', set: setOf((byte) => byte >= 0x80 && byte < 0xc0) };
  const guard: PatternNode = { kind: 'look', behind: false, negative: true, body: inside };
  return { ...pattern, root: { kind: 'sequence', items: [guard, pattern.root] } };
}

function smallLength(model: CostModel): number {
  let low = -1;
  let high = LONGEST;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (model.boundFor(middle) <= Math.max(SMALL_WORK, LINEAR_WORK * middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function growthOf(model: CostModel | undefined): PatternGrowth {
  if (model === undefined) return 'exponential';
  return model.boundFor(LONGEST) / model.boundFor(LONGEST / 2) < 3 ? 'linear' : 'polynomial';
}
