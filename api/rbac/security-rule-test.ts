import { isObject } from '../../lib/json/is-object.js';
import { MatchContext } from '../../lib/patterns/matcher.js';
import { ContextNotJudgedError } from './context-not-judged-error.js';
import { type ContextPattern, contextPattern, type MatchBudget } from './context-pattern.js';
import { SecurityRuleError } from './security-rule-error.js';

/** Operators and functions of a rule, all in all. Bounds the time that one login with a context takes. */
const MAX_RULE_PARTS = 1000;
/** Operators inside each other: a rule is read by recursion. */
const MAX_RULE_DEPTH = 16;
/** Steps of all rules for one context, some 40 ms. */
const MAX_CONTEXT_STEPS = 400_000;

/** Objects inside each other that FIND looks into (rest-api.md 5.6). */
const MAX_FIND_DEPTH = 8;

/** Whether a rule is true of the authorization context. @throws ContextNotJudgedError */
export type SecurityRuleTest = (context: Readonly<Record<string, unknown>>, budget: MatchBudget) => boolean;

/** What the rules may spend on one context. */
export function newBudget(): MatchBudget {
  return { scratch: new MatchContext(), stepsLeft: MAX_CONTEXT_STEPS };
}

/**
 * Compiles a security rule (rest-api.md 5.6). An object with several members is true when one of them is, as in the
 * reference.
 * @throws SecurityRuleError which names what is no operator, no function, or has a value that it cannot have
 */
export function securityRuleTest(rule: unknown): SecurityRuleTest {
  let parts = 0;
  const compile = (node: unknown, depth: number): SecurityRuleTest => {
    if (!isObject(node)) throw new SecurityRuleError('a rule is an object');
    if (depth > MAX_RULE_DEPTH) throw new SecurityRuleError(`operators are nested deeper than ${MAX_RULE_DEPTH}`);
    const entries = Object.entries(node);
    if (entries.length === 0) throw new SecurityRuleError('a rule has an operator or a function');
    parts += entries.length;
    if (parts > MAX_RULE_PARTS) throw new SecurityRuleError(`it has more than ${MAX_RULE_PARTS} parts`);
    const tests = entries.map(([name, value]) => member(name, value, (inner) => compile(inner, depth + 1)));
    return (context, budget) => tests.some((test) => test(context, budget));
  };
  return compile(rule, 1);
}

function member(name: string, value: unknown, compile: (node: unknown) => SecurityRuleTest): SecurityRuleTest {
  switch (name) {
    case 'AND': {
      const tests = ruleList(name, value).map(compile);
      return (context, budget) => tests.every((test) => test(context, budget));
    }
    case 'OR': {
      const tests = ruleList(name, value).map(compile);
      return (context, budget) => tests.some((test) => test(context, budget));
    }
    case 'NOT': {
      const tests = (Array.isArray(value) ? ruleList(name, value) : [value]).map(compile);
      return (context, budget) => !tests.every((test) => test(context, budget));
    }
    case 'MATCH':
    case 'MATCH$': {
      const matches = functionPattern(name, value);
      return (context, budget) => matches(context, budget);
    }
    case 'FIND':
    case 'FIND$': {
      const matches = functionPattern(name, value);
      return (context, budget) => found(context, matches, budget, 0);
    }
    default:
      throw new SecurityRuleError(`'${name}' is neither AND, OR, NOT, MATCH, MATCH$, FIND nor FIND$`);
  }
}

function ruleList(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new SecurityRuleError(`'${name}' takes a list of rules`);
  return value as unknown[];
}

function functionPattern(name: string, value: unknown): ContextPattern {
  if (!isObject(value)) throw new SecurityRuleError(`'${name}' takes an object`);
  return contextPattern(value, name.endsWith('$'));
}

/** MATCH here, or in any object inside. */
function found(value: unknown, matches: ContextPattern, budget: MatchBudget, depth: number): boolean {
  if (Array.isArray(value)) return value.some((one: unknown) => found(one, matches, budget, depth));
  if (!isObject(value)) return false;
  if (depth > MAX_FIND_DEPTH) throw new ContextNotJudgedError(`FIND looks ${MAX_FIND_DEPTH} levels deep`);
  if (matches(value, budget)) return true;
  return Object.values(value).some((one) => found(one, matches, budget, depth + 1));
}
