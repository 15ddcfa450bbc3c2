import { IpExpression } from '../../network/ip-expression.js';
import type { Matcher } from '../../patterns/matcher.js';
import { TimeExpression } from '../../time/time-expression.js';
import { parseWeekdays } from '../../time/weekday-expression.js';
import type { FieldTable } from '../decode/field-table.js';
import type { Diagnostics, SourcePlace } from '../event.js';
import type { CdbList } from '../rules/cdb-list.js';
import {
  AddressCondition,
  CheckDiffCondition,
  CompiledFunctionCondition,
  type Condition,
  DecodedAsCondition,
  ExactActionCondition,
  FieldCondition,
  FirstTimeSeenCondition,
  ListCondition,
  PatternCondition,
  SizeCondition,
  TimeCondition,
  WeekdayCondition,
} from '../rules/condition.js';
import { COMPILED_FUNCTIONS } from './compiled-functions.js';
import { failLoad } from './fail-load.js';
import type { PatternCache } from './pattern-cache.js';
import type { AddressSpec, PatternElement, PatternSpec, Rule } from './rule.js';
import { placeOfPattern } from './ruleset-error.js';
import { warnOfExplosion } from './warn-of-explosion.js';

/** What conditions are compiled against. */
export type RuleCompileContext = {
  readonly diagnostics: Diagnostics;
  readonly patterns: PatternCache;
  /** Numbers the fields that rules mention. */
  readonly fields: FieldTable;
  decoderId(name: string): number | undefined;
  list(path: string): CdbList | undefined;
};

/** A compiled rule before it has a place in the tree. */
export type CompiledConditions = {
  readonly conditions: readonly Condition[];
  /** `if_matched_group`, tested against group strings. */
  readonly matchedGroup: Matcher | undefined;
  /** `if_matched_regex`, tested against earlier logs. */
  readonly matchedRegex: Matcher | undefined;
};

/**
 * Compiles everything of a rule except its search for earlier events. The conditions stand in the order in which they
 * are tried (rules-and-alerts.md 4.2).
 * @throws RulesetError for a pattern that does not compile
 */
export function compileRule(rule: Rule, context: RuleCompileContext): CompiledConditions {
  return new RuleCompiler(rule, context).compile();
}

class RuleCompiler {
  readonly #rule: Rule;
  readonly #context: RuleCompileContext;
  readonly #conditions: Condition[] = [];

  constructor(rule: Rule, context: RuleCompileContext) {
    this.#rule = rule;
    this.#context = context;
  }

  compile(): CompiledConditions {
    const rule = this.#rule;
    const conditions = this.#conditions;
    if (rule.decodedAs !== undefined) {
      conditions.push(new DecodedAsCondition(this.#context.decoderId(rule.decodedAs) ?? -1));
    }
    this.#patterns('program_name', 'id', 'system_name', 'protocol', 'match', 'regex', 'action', 'url', 'location');
    for (const { name, pattern } of rule.fields) {
      const matcher = this.#matcher(pattern, name);
      conditions.push(new FieldCondition(name, this.#context.fields.slotOf(name), matcher, pattern.negate));
    }
    this.#address('srcip', rule.srcip);
    this.#address('dstip', rule.dstip);
    this.#patterns('srcport', 'dstport');
    const compiled = rule.compiledRule === undefined ? undefined : COMPILED_FUNCTIONS.get(rule.compiledRule);
    if (compiled !== undefined) conditions.push(new CompiledFunctionCondition(compiled));
    this.#patterns('user', 'srcgeoip', 'dstgeoip');
    if (rule.maxsize > 0) conditions.push(new SizeCondition(rule.maxsize));
    const time = rule.time === undefined ? undefined : TimeExpression.parse(rule.time);
    if (time !== undefined) conditions.push(new TimeCondition(time));
    const days = rule.weekday === undefined ? undefined : parseWeekdays(rule.weekday);
    if (days !== undefined) conditions.push(new WeekdayCondition(days));
    this.#patterns('data', 'extra_data', 'hostname', 'status');
    if (rule.checkDiff) conditions.push(new CheckDiffCondition(rule.id));
    if (rule.ifFts) conditions.push(new FirstTimeSeenCondition());
    this.#lists();
    return {
      conditions,
      matchedGroup: this.#correlationPattern('osmatch', rule.ifMatchedGroup),
      matchedRegex: this.#correlationPattern('osregex', rule.ifMatchedRegex),
    };
  }

  #patterns(...elements: readonly PatternElement[]): void {
    for (const element of elements) {
      const pattern = this.#rule.patterns[element];
      if (pattern === undefined) continue;
      if (pattern.language === 'exact') {
        this.#conditions.push(new ExactActionCondition(pattern.source, pattern.negate));
        continue;
      }
      // For `protocol` the reference names the pattern instead of the tag.
      const tag = element === 'protocol' ? pattern.source : element;
      this.#conditions.push(new PatternCondition(element, this.#matcher(pattern, tag), pattern.negate));
    }
  }

  #matcher(pattern: PatternSpec, tag: string): Matcher {
    const language = pattern.language === 'exact' ? 'osmatch' : pattern.language;
    const matcher = this.#context.patterns.find(language, pattern.source);
    if ('matcher' in matcher) {
      warnOfExplosion(
        matcher.matcher,
        `'${tag}' of rule ${String(this.#rule.id)}`,
        this.#context.diagnostics,
        this.#place,
      );
      return matcher.matcher;
    }
    failLoad(
      this.#context.diagnostics,
      placeOfPattern(this.#place, matcher.error),
      `(5107): Syntax error on tag '${tag}' in rule ${String(this.#rule.id)}`,
    );
  }

  #correlationPattern(language: 'osmatch' | 'osregex', source: string | undefined): Matcher | undefined {
    if (source === undefined) return undefined;
    const matcher = this.#context.patterns.find(language, source);
    if ('matcher' in matcher) {
      warnOfExplosion(
        matcher.matcher,
        `'if_matched_regex' of rule ${String(this.#rule.id)}`,
        this.#context.diagnostics,
        this.#place,
      );
      return matcher.matcher;
    }
    failLoad(
      this.#context.diagnostics,
      placeOfPattern(this.#place, matcher.error),
      `(1450): Syntax error on regex: '${source}': ${codeOf(matcher.error)}.`,
    );
  }

  #address(element: 'srcip' | 'dstip', spec: AddressSpec | undefined): void {
    if (spec === undefined) return;
    const expression = IpExpression.compile(spec.sources);
    if (expression instanceof IpExpression) {
      this.#conditions.push(new AddressCondition(element, expression, spec.negate));
    } else {
      failLoad(this.#context.diagnostics, this.#place, `(1237): Invalid ip address: '${expression.invalid}'.`);
    }
  }

  #lists(): void {
    for (const spec of this.#rule.lists) {
      const list = this.#context.list(spec.path);
      if (list === undefined) continue;
      let matcher: Matcher | undefined;
      if (spec.checkValue !== undefined) {
        matcher = this.#matcher({ language: 'osmatch', source: spec.checkValue, negate: false }, 'list');
      }
      const slot = spec.attribute === undefined ? this.#context.fields.slotOf(spec.fieldName) : -1;
      this.#conditions.push(new ListCondition(spec, slot, list, matcher));
    }
  }

  get #place(): SourcePlace {
    return { file: this.#rule.file, line: this.#rule.line, ruleId: this.#rule.id };
  }
}

/** Number of a pattern error, as the reference shows it. */
function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '0';
}
