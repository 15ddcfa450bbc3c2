import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { loadOfflineRuleset } from '../../bin/offline/offline-ruleset.js';
import { findTests } from '../../bin/ruletest/find-tests.js';
import { testCoverage } from '../../bin/ruletest/test-coverage.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { productRoot } from '../../lib/product/product-root.js';
import { type RuleTestResult, RuleTestRunner } from '../../lib/ruleset/tests/run-rule-test.js';

const directory = fileURLToPath(new URL('etc/ruleset', productRoot()));
const messages: string[] = [];
const diagnostics: Diagnostics = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => messages.push(message),
  error: (message) => messages.push(message),
};

describe('starter ruleset', () => {
  let ruleset: EngineRuleset;
  let results: RuleTestResult[];

  before(() => {
    ruleset = loadOfflineRuleset([directory], diagnostics);
    const runner = new RuleTestRunner(ruleset, diagnostics);
    results = findTests([join(directory, 'tests')]).map((test) => runner.run(test));
  });

  it('loads without a warning', () => {
    expect(messages).to.deep.equal([]);
  });

  it('decides every sample as it says', () => {
    const failed = results.filter(({ status }) => status === 'failed');
    const text = failed.map(({ test, problems, explanation }) =>
      [
        `${test.file}:${String(test.line)} ${test.name}`,
        ...problems.map(({ text: problem }) => problem),
        ...explanation,
      ].join('\n  '),
    );
    expect(text.join('\n')).to.equal('');
  });

  it('has a passing and a failing sample for every rule', () => {
    const { rules, neverExpected, neverExcluded } = testCoverage(ruleset, results);
    expect(rules).to.be.at.least(80);
    expect({ neverExpected, neverExcluded }).to.deep.equal({ neverExpected: [], neverExcluded: [] });
    expect(results.filter(({ status }) => status === 'skipped')).to.deep.equal([]);
  });

  it('tags every rule that alerts with a standard it serves', () => {
    const untagged = ruleset.rules.rules
      .filter(({ rule }) => rule.level >= 3 && !/(?:pci_dss|gdpr|hipaa|nist_800_53|gpg13|tsc)_/.test(rule.groups))
      .map(({ rule }) => rule.id);
    expect(untagged).to.deep.equal([]);
  });
});
