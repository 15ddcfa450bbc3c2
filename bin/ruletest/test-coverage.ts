import { fromByteString } from '../../lib/engine/byte-string.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import type { RuleTestResult } from '../../lib/ruleset/tests/run-rule-test.js';

/** Which rules and decoders tests look at. */
export type TestCoverage = {
  readonly rules: number;
  /** Rules that no test expects, in load order. */
  readonly neverExpected: readonly number[];
  /** Rules of which no test says that they must not fire, in load order. */
  readonly neverExcluded: readonly number[];
  readonly decoders: number;
  /** Names of decoders that took no tested log, sorted. */
  readonly neverDecoded: readonly string[];
};

/**
 * What the tests of a run cover. A rule is expected when a test that passed names it as the result or as passed through,
 * and excluded when one says that it is not.
 */
export function testCoverage(ruleset: EngineRuleset, results: readonly RuleTestResult[]): TestCoverage {
  const expected = new Set<number>();
  const excluded = new Set<number>();
  const decoded = new Set<string>();
  for (const { test, status, decoder } of results) {
    if (status !== 'passed') {
      continue;
    }
    const { rule, through = [] } = test.expect;
    if (typeof rule === 'number') {
      expected.add(rule);
    }
    through.forEach((id) => expected.add(id));
    [...test.expectNot.rules, ...test.expectNot.through].forEach((id) => excluded.add(id));
    if (decoder !== undefined) {
      decoded.add(decoder);
    }
  }
  const ids = ruleset.rules.rules.map(({ rule }) => rule.id);
  const { programRoots, plainRoots } = ruleset.decoders;
  const names = [...programRoots, ...plainRoots].map(({ decoder }) => fromByteString(decoder.identity.name));
  const decoders = [...new Set(names)].sort();
  return {
    rules: ids.length,
    neverExpected: ids.filter((id) => !expected.has(id)),
    neverExcluded: ids.filter((id) => !excluded.has(id)),
    decoders: decoders.length,
    neverDecoded: decoders.filter((name) => !decoded.has(name)),
  };
}
