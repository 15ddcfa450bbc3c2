import { fromByteString, toByteString } from '../../engine/byte-string.js';
import { DEFAULT_STEP_BUDGET, Engine, type EngineOptions } from '../../engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../engine/engine-state.js';
import { type Diagnostics, type EngineEvent, STATIC_FIELDS } from '../../engine/event.js';
import { findField } from '../../engine/event-field.js';
import { explainWhy, type LoadMessage } from '../../engine/explain/explain-why.js';
import { Explainer } from '../../engine/explain/explainer.js';
import { type Explanation, explanationOf } from '../../engine/explain/explanation.js';
import type { EngineRuleset } from '../../engine/load/engine-ruleset.js';
import type { EventOutcome } from '../../engine/outcome.js';
import { readLocation } from '../../engine/predecode/read-location.js';
import { testOrigin } from '../test-origin.js';
import type { Expectation, RuleTest } from './rule-test.js';

/** What is not as a test says. */
export type RuleTestProblem = {
  /** What was looked at: `rule`, `field srcip` and so on; `skip` of a test that is not run. */
  readonly what: string;
  /** Both as people read them; absent where something was not to happen. */
  readonly expected?: string;
  readonly actual?: string;
  /** All of it in one line. */
  readonly text: string;
};

/** What a test came to. */
export type RuleTestResult = {
  readonly test: RuleTest;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Of a skipped test, why. */
  readonly problems: readonly RuleTestProblem[];
  /** How the last event went through the ruleset, for people; only of failed tests. */
  readonly explanation: readonly string[];
  /** Decoder of the last event. */
  readonly decoder: string | undefined;
  /** Milliseconds it took. */
  readonly duration: number;
};

/** Rules that matched, in the order of the attempts. */
type RulePath = { readonly matched: ReadonlySet<number> };

/** Runs tests on one ruleset. Each test has a state of its own, so their order does not matter. */
export class RuleTestRunner {
  readonly #ruleset: EngineRuleset;
  readonly #messages: readonly LoadMessage[];
  readonly #options: EngineOptions;
  readonly #diagnostics: Diagnostics;

  /** @param messages what was said when the ruleset was loaded: it may say why a rule is missing */
  constructor(ruleset: EngineRuleset, diagnostics: Diagnostics, messages: readonly LoadMessage[] = []) {
    this.#ruleset = ruleset;
    this.#messages = messages;
    // As logtest runs it.
    this.#options = { mode: 'test', origin: testOrigin(), logFirewall: false, budget: DEFAULT_STEP_BUDGET };
    this.#diagnostics = diagnostics;
  }

  /** Runs a test. Never throws, whatever the logs hold. */
  run(test: RuleTest): RuleTestResult {
    const start = performance.now();
    if (test.skip !== undefined) {
      const problems = [{ what: 'skip', text: test.skip }];
      return { test, status: 'skipped', problems, explanation: [], decoder: undefined, duration: 0 };
    }
    const { outcome, trace } = this.#process(test);
    const path = pathOf(trace);
    const problems = [...this.#unmet(test.expect, outcome, path), ...this.#forbidden(test, outcome, path)];
    return {
      test,
      status: problems.length === 0 ? 'passed' : 'failed',
      problems,
      explanation: problems.length === 0 ? [] : this.#explain(test, outcome, path),
      decoder: decoderName(outcome),
      duration: performance.now() - start,
    };
  }

  /** @param explainer watches the last event */
  #process(
    test: RuleTest,
    explainer?: Explainer,
  ): { readonly outcome: EventOutcome; readonly trace: readonly string[] } {
    const state = new EngineState(this.#ruleset.rules, DEFAULT_STATE_OPTIONS);
    const engine = new Engine({
      ruleset: this.#ruleset,
      state,
      options: this.#options,
      diagnostics: this.#diagnostics,
    });
    let now = test.at;
    let result: { outcome: EventOutcome; trace: string[] } | undefined;
    for (const [index, { log, location, queue, after }] of test.events.entries()) {
      now += after;
      const trace: string[] = [];
      const message = toByteString(log);
      const incoming = { ...readLocation(toByteString(location)), queue, message, receivedAt: now * 1000 };
      const watching = index === test.events.length - 1 ? explainer : undefined;
      result = { outcome: engine.process(incoming, trace, watching), trace };
    }
    if (result === undefined) {
      throw new Error('a test without events was not refused by its reader');
    }
    return result;
  }

  /** Every step of the last event of a test, for people. */
  explain(test: RuleTest): Explanation {
    const explainer = new Explainer();
    const { outcome } = this.#process(test, explainer);
    return explanationOf(explainer, outcome, this.#ruleset);
  }

  #unmet(expect: Expectation, outcome: EventOutcome, path: RulePath): RuleTestProblem[] {
    const problems: RuleTestProblem[] = [];
    const rule = outcome.rule?.rule;
    const check = (what: string, expected: unknown, actual: unknown): void => {
      if (expected !== undefined && expected !== actual) {
        problems.push(difference(what, show(expected), show(actual)));
      }
    };
    check('rule', expect.rule, rule?.id ?? null);
    check('level', expect.level, rule?.level ?? null);
    check('decoder', expect.decoder, decoderName(outcome) ?? null);
    check('parent', expect.parent, outcome.event.decoder?.parent ?? null);
    check('alert', expect.alert, outcome.isAlert);
    check('description', expect.description, fromByteString(outcome.alert.description ?? ''));
    const groups = rule?.groups.split(',').map((group) => group.trim());
    for (const group of expect.groups ?? []) {
      if (groups?.includes(toByteString(group)) !== true) {
        const text = `groups: ${show(group)} is missing`;
        problems.push({ what: 'groups', expected: show(group), actual: rule?.groups ?? 'none', text });
      }
    }
    for (const id of expect.through ?? []) {
      if (!path.matched.has(id)) {
        problems.push({ what: 'through', expected: String(id), text: `through: rule ${String(id)} did not match` });
      }
    }
    for (const [name, value] of expect.fields ?? []) {
      check(`field ${name}`, value, fieldOf(outcome.event, name));
    }
    return problems;
  }

  #forbidden({ expectNot }: RuleTest, outcome: EventOutcome, path: RulePath): RuleTestProblem[] {
    const problems: RuleTestProblem[] = [];
    const { rules, through, triple } = expectNot;
    const id = outcome.rule?.rule.id;
    if (triple !== undefined) {
      if (this.#unmet(triple, outcome, path).length === 0) {
        const text = `expected anything but rule ${show(triple.rule)} of decoder ${show(triple.decoder)}`;
        problems.push({ what: 'rule', actual: show(triple.rule), text });
      }
    } else if (id !== undefined && rules.includes(id)) {
      problems.push({ what: 'rule', actual: String(id), text: `rule: ${String(id)} was not expected` });
    }
    for (const unwanted of through) {
      if (path.matched.has(unwanted)) {
        problems.push({ what: 'through', actual: String(unwanted), text: `through: rule ${String(unwanted)} matched` });
      }
    }
    return problems;
  }

  #explain(test: RuleTest, outcome: EventOutcome, path: RulePath): string[] {
    const { event } = outcome;
    const lines = [`log: ${fromByteString(event.fullLog)}`];
    if (event.programName !== undefined) {
      lines.push(`program: ${fromByteString(event.programName)}`);
    }
    const fields = [...allFields(event)].map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const parent = event.decoder?.parent === undefined ? '' : ` (child of ${event.decoder.parent})`;
    lines.push(
      `decoder: ${show(decoderName(outcome) ?? null)}${parent}${fields.length > 0 ? `, ${fields.join(' ')}` : ''}`,
    );
    lines.push(`matched: ${path.matched.size === 0 ? 'no rule' : [...path.matched].join(' > ')}`);
    const { rule: expected } = test.expect;
    if (typeof expected === 'number' && outcome.rule?.rule.id !== expected) {
      const explainer = new Explainer();
      const again = this.#process(test, explainer);
      const { answer, details } = explainWhy(expected, this.#ruleset, explainer, again.outcome, this.#messages);
      lines.push(answer, ...details);
    }
    return lines;
  }
}

function pathOf(trace: readonly string[]): RulePath {
  const matched = new Set<number>();
  for (const line of trace) {
    const id = /^\*Rule (\d+) matched$/.exec(line)?.[1];
    if (id !== undefined) {
      matched.add(Number(id));
    }
  }
  return { matched };
}

function decoderName({ event }: EventOutcome): string | undefined {
  return event.decoder === undefined ? undefined : fromByteString(event.decoder.name);
}

function fieldOf(event: EngineEvent, name: string): string | null {
  const known = STATIC_FIELDS.find((field) => field === name);
  const value = known === undefined ? findField(event, toByteString(name).toLowerCase()) : event[known];
  return value === undefined ? null : fromByteString(value);
}

function* allFields(event: EngineEvent): Generator<readonly [string, string]> {
  for (const name of STATIC_FIELDS) {
    const value = event[name];
    if (value !== undefined) {
      yield [name, fromByteString(value)];
    }
  }
  for (const [index, name] of event.fieldNames.entries()) {
    yield [fromByteString(name), fromByteString(event.fieldValues[index] ?? '')];
  }
}

function difference(what: string, expected: string, actual: string): RuleTestProblem {
  return { what, expected, actual, text: `${what}: expected ${expected}, got ${actual}` };
}

function show(value: unknown): string {
  return value === null || value === undefined
    ? 'none'
    : typeof value === 'string'
      ? `'${value}'`
      : JSON.stringify(value);
}
