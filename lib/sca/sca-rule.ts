import { commandWords, CommandWordsError } from '../config/command-words.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import type { Matcher } from '../patterns/matcher.js';
import { PatternError } from '../patterns/pattern-error.js';
import { LinePattern, type ScaLanguage } from './line-pattern.js';

/** A rule whose text cannot be used; it costs its policy. */
export class ScaRuleError extends Error {
  override readonly name = 'ScaRuleError';
}

/** One rule (integrity-and-inventory.md 10.3). Paths, names and patterns are byte strings. */
export type ScaRule = { readonly negated: boolean; readonly problems: readonly string[] } & ScaLook;

type ScaLook =
  | { readonly kind: 'file'; readonly paths: readonly string[]; readonly pattern: LinePattern | undefined }
  | {
      readonly kind: 'directory';
      readonly paths: readonly string[];
      /** Of the names of files below; undefined when the directory itself is looked for. A text says what is wrong with it. */
      readonly names: Matcher | string | undefined;
      readonly pattern: LinePattern | undefined;
    }
  | { readonly kind: 'process'; readonly pattern: LinePattern }
  | { readonly kind: 'command'; readonly line: string; readonly pattern: LinePattern | undefined };

/** What a rule looks at. */
export type ScaRuleKind = ScaLook['kind'];

const KINDS: Readonly<Record<string, ScaRuleKind>> = { f: 'file', d: 'directory', p: 'process', c: 'command' };
const ARROW = ' -> ';
const NEGATION = /^(?:not|NOT) /;

/** A rule's text in its parts, before anything of it is compiled. */
export type RuleParts = {
  readonly negated: boolean;
  readonly kind: ScaRuleKind;
  /** What stands between the type and the first arrow; of a process all of it. */
  readonly target: string;
  /** What stands behind the arrows. */
  readonly rest: readonly string[];
};

/** Takes a rule's text apart. @throws ScaRuleError */
export function splitRule(text: string): RuleParts {
  const negated = NEGATION.test(text);
  const body = negated ? text.slice(4) : text;
  const kind = body.charAt(1) === ':' ? KINDS[body.charAt(0)] : undefined;
  if (kind === undefined) {
    throw new ScaRuleError(`'${text}' does not begin with f:, d:, p: or c: (maybe behind 'not ')`);
  }
  const whole = body.slice(2);
  if (kind === 'process') return { negated, kind, target: needed(whole.trimStart(), text), rest: [] };
  const parts = splitTimes(whole, kind === 'directory' ? 2 : 1);
  const target = (parts[0] ?? '').trim();
  const isEmpty = kind !== 'command' && listed(target).length === 0;
  return { negated, kind, target: needed(isEmpty ? '' : target, text), rest: parts.slice(1) };
}

/** At the first arrows, so many at most: what is behind belongs to the pattern. */
function splitTimes(text: string, most: number): string[] {
  const parts: string[] = [];
  let rest = text;
  for (let at = rest.indexOf(ARROW); at >= 0 && parts.length < most; at = rest.indexOf(ARROW)) {
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + ARROW.length);
  }
  return [...parts, rest];
}

function needed(target: string, text: string): string {
  if (target === '') throw new ScaRuleError(`'${text}' names nothing to look at`);
  return target;
}

/** The entries of a comma list. */
function listed(target: string): string[] {
  return target
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * Reads a rule. What of its patterns does not compile makes it invalid wherever it is evaluated, and is one of `problems`.
 * @param text as it stands in the policy, variables replaced
 * @throws ScaRuleError
 */
export function readRule(text: string, language: ScaLanguage): ScaRule {
  const { negated, kind, target, rest } = splitRule(bytes(text));
  const problems: string[] = [];
  const look = readLook(kind, target, rest, language, problems);
  const patterns = 'pattern' in look && look.pattern !== undefined ? look.pattern.problems : [];
  return { negated, problems: [...problems, ...patterns].map(readable), ...look };
}

function readLook(
  kind: ScaRuleKind,
  target: string,
  rest: readonly string[],
  language: ScaLanguage,
  problems: string[],
): ScaLook {
  const patternOf = (source: string | undefined): LinePattern | undefined =>
    source === undefined ? undefined : new LinePattern(source, language);
  switch (kind) {
    case 'file':
      return { kind, paths: listed(target), pattern: patternOf(rest[0]) };
    case 'directory':
      return { kind, paths: listed(target), names: readNames(rest[0], problems), pattern: patternOf(rest[1]) };
    case 'process':
      return { kind, pattern: new LinePattern(target, language) };
    case 'command':
      checkCommand(target, problems);
      return { kind, line: target, pattern: patternOf(rest[0]) };
  }
}

/** Names are always in the native languages, whatever the policy has (integrity-and-inventory.md 15, trap 25). */
function readNames(source: string | undefined, problems: string[]): Matcher | string | undefined {
  if (source === undefined) return undefined;
  const isRegex = source.slice(0, 2).toLowerCase() === 'r:';
  try {
    return isRegex ? compilePattern('osregex', source.slice(2)) : compilePattern('osmatch', source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const problem = `Invalid pattern of names '${source}': ${error.message}`;
    problems.push(problem);
    return problem;
  }
}

function checkCommand(line: string, problems: string[]): void {
  try {
    commandWords(line);
  } catch (error) {
    if (!(error instanceof CommandWordsError)) throw error;
    problems.push(error.message);
  }
}

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function readable(byteString: string): string {
  return Buffer.from(byteString, 'latin1').toString('utf8');
}
