import { fromByteString, toByteString } from '../engine/byte-string.js';
import { DEFAULT_STEP_BUDGET, Engine, type EngineOptions } from '../engine/engine.js';
import type { EngineRuleset } from '../engine/engine-ruleset.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../engine/engine-state.js';
import { findField } from '../engine/event-field.js';
import { STATIC_FIELDS, type Diagnostics, type EngineEvent } from '../engine/event.js';
import type { Outcome } from '../engine/outcome.js';
import { offlineOrigin } from '../logtest/offline-ruleset.js';
import type { Expectation, RuleTest } from './rule-test.js';

/** What a test came to. */
export type RuleTestResult = {
  readonly test: RuleTest;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** One line each; of a skipped test, why. */
  readonly problems: readonly string[];
  /** How the last event went through the ruleset, for people; only of failed tests. */
  readonly explanation: readonly string[];
  /** Decoder of the last event. */
  readonly decoder: string | undefined;
  /** Milliseconds it took. */
  readonly duration: number;
};

/** The matched rules, in the order of the attempts, and all rules that were tried. */
type RulePath = { readonly matched: ReadonlySet<number>; readonly tried: ReadonlySet<number> };

/** Runs tests on one ruleset. Each test has a state of its own, so their order does not matter. */
export class RuleTestRunner {
  readonly #ruleset: EngineRuleset;
  readonly #options: EngineOptions;
  readonly #diagnostics: Diagnostics;

  constructor(ruleset: EngineRuleset, diagnostics: Diagnostics) {
    this.#ruleset = ruleset;
    // As logtest runs it.
    this.#options = { mode: 'test', origin: offlineOrigin(), logFirewall: false, budget: DEFAULT_STEP_BUDGET };
    this.#diagnostics = diagnostics;
  }

  /** Runs a test. Never throws, whatever the logs hold. */
  run(test: RuleTest): RuleTestResult {
    const start = performance.now();
    if (test.skip !== undefined) {
      const problems = [test.skip];
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

  #process(test: RuleTest): { readonly outcome: Outcome; readonly trace: readonly string[] } {
    const state = new EngineState(this.#ruleset.rules, DEFAULT_STATE_OPTIONS);
    const engine = new Engine({
      ruleset: this.#ruleset,
      state,
      options: this.#options,
      diagnostics: this.#diagnostics,
    });
    let now = test.at;
    let result: { outcome: Outcome; trace: string[] } | undefined;
    for (const { log, location, queue, after } of test.events) {
      now += after;
      const trace: string[] = [];
      const message = toByteString(log);
      const incoming = { queue, location: toByteString(location), message, receivedAt: now * 1000 };
      result = { outcome: engine.process(incoming, trace), trace };
    }
    if (result === undefined) {
      throw new Error('a test without events was not refused by its reader');
    }
    return result;
  }

  #unmet(expect: Expectation, outcome: Outcome, path: RulePath): string[] {
    const problems: string[] = [];
    const rule = outcome.rule?.rule;
    const check = (what: string, expected: unknown, actual: unknown): void => {
      if (expected !== undefined && expected !== actual) {
        problems.push(`${what}: expected ${show(expected)}, got ${show(actual)}`);
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
        problems.push(`groups: ${show(group)} is missing`);
      }
    }
    for (const id of expect.through ?? []) {
      if (!path.matched.has(id)) {
        problems.push(`through: rule ${String(id)} did not match`);
      }
    }
    for (const [name, value] of expect.fields ?? []) {
      check(`field ${name}`, value, fieldOf(outcome.event, name));
    }
    return problems;
  }

  #forbidden({ expectNot }: RuleTest, outcome: Outcome, path: RulePath): string[] {
    const problems: string[] = [];
    const { rules, through, triple } = expectNot;
    const id = outcome.rule?.rule.id;
    if (triple !== undefined) {
      if (this.#unmet(triple, outcome, path).length === 0) {
        problems.push(`expected anything but rule ${show(triple.rule)} of decoder ${show(triple.decoder)}`);
      }
    } else if (id !== undefined && rules.includes(id)) {
      problems.push(`rule: ${String(id)} was not expected`);
    }
    for (const unwanted of through) {
      if (path.matched.has(unwanted)) {
        problems.push(`through: rule ${String(unwanted)} matched`);
      }
    }
    return problems;
  }

  #explain(test: RuleTest, outcome: Outcome, path: RulePath): string[] {
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
      lines.push(`rule ${String(expected)}: ${this.#whyNot(expected, path)}`);
    }
    return lines;
  }

  #whyNot(id: number, path: RulePath): string {
    if (!this.#ruleset.rules.byId.has(id)) {
      return 'is not in the ruleset';
    }
    if (path.matched.has(id)) {
      return 'matched, and a rule below it took the event';
    }
    return path.tried.has(id)
      ? 'was tried and did not match'
      : 'was not tried: no rule above it matched, or a sibling tried before it took the event';
  }
}

function pathOf(trace: readonly string[]): RulePath {
  const matched = new Set<number>();
  const tried = new Set<number>();
  for (const line of trace) {
    const match = /^(?:\*Rule (\d+) matched|Trying rule: (\d+) )/.exec(line);
    if (match?.[1] !== undefined) {
      matched.add(Number(match[1]));
    } else if (match?.[2] !== undefined) {
      tried.add(Number(match[2]));
    }
  }
  return { matched, tried };
}

function decoderName({ event }: Outcome): string | undefined {
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

function show(value: unknown): string {
  return value === null || value === undefined
    ? 'none'
    : typeof value === 'string'
      ? `'${value}'`
      : JSON.stringify(value);
}
