import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { loadOfflineRuleset } from '../../bin/offline/offline-ruleset.js';
import { findTests } from '../../bin/ruletest/find-tests.js';
import { testCoverage } from '../../bin/ruletest/test-coverage.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { productRoot } from '../../lib/product/product-root.js';
import { readTestFile } from '../../lib/ruleset/tests/read-test-file.js';
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

  it('is built upon by the example of a new home', () => {
    const own = mkdtempSync(join(tmpdir(), 'svc-own-'));
    try {
      mkdirSync(join(own, 'rules'));
      copyFileSync(fileURLToPath(new URL('etc/local_rules.xml', productRoot())), join(own, 'rules', 'local_rules.xml'));
      const runner = new RuleTestRunner(loadOfflineRuleset([directory, own], diagnostics), diagnostics);
      const log = 'Mar  7 09:15:02 web sshd[812]: Failed password for root from 192.0.2.1 port 5012 ssh2';
      const [example] = readTestFile(
        `- { name: example, log: '${log}', expect: { rule: 100001, level: 5 } }`,
        'own.yml',
      );
      expect(runner.run(example!).problems).to.deep.equal([]);
      expect(messages).to.deep.equal([]);
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});
