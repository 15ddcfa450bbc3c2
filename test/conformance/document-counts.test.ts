import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../bin/control/home/init-home.js';
import { loadOfflineRuleset } from '../../bin/offline/offline-ruleset.js';
import { findTests } from '../../bin/ruletest/find-tests.js';
import { productRoot } from '../../lib/product/product-root.js';
import { RecordingDiagnostics } from '../support/recording-diagnostics.js';
import { TemporaryHome } from '../support/temporary-home.js';

const path = (name: string): string => fileURLToPath(new URL(name, productRoot()));

describe('the counts in the documents', () => {
  const readme = readFileSync(path('README.md'), 'utf8');
  const rulesGuide = readFileSync(path('docs/guide/rules.md'), 'utf8');
  const programsGuide = readFileSync(path('docs/guide/programs.md'), 'utf8');

  it('of shipped rules, and of their places in the tree of a new home, are those of the ruleset', async () => {
    const directory = path('etc/ruleset/rules');
    const files = readdirSync(directory).map((name) => readFileSync(`${directory}/${name}`, 'utf8'));
    const rules = files.reduce((sum, text) => sum + (text.match(/<rule id=/g)?.length ?? 0), 0);
    const home = new TemporaryHome();
    await initHome(home, { role: 'server' });
    const { nodeCount } = loadOfflineRuleset(
      [home.path('ruleset'), home.path('etc')],
      new RecordingDiagnostics(),
    ).rules;
    home.remove();
    expect(rulesGuide).to.contain(`The ${rules} shipped rules lie in`);
    expect(rulesGuide.replaceAll('\n', ' ')).to.contain(`as the reference does, ${nodeCount} for them`);
    expect(readme).to.contain(`Total rules enabled: '${nodeCount}'`);
  });

  it('of checks in the shipped policies are those of the files', () => {
    const guide = readFileSync(path('docs/guide/assessment.md'), 'utf8');
    for (const name of readdirSync(path('etc/ruleset/sca'))) {
      const checks = readFileSync(path(`etc/ruleset/sca/${name}`), 'utf8').match(/^ {2}- id: /gm)?.length ?? 0;
      expect(guide.split('\n').find((line) => line.includes(`ruleset/sca/${name}\` |`))).to.contain(`| ${checks}: `);
    }
  });

  it('of their tests are those of the files', () => {
    const { length } = findTests([path('etc/ruleset/tests')]);
    expect(programsGuide).to.contain(`\n${length} passed, 0 failed (`);
    expect(rulesGuide).to.contain(`The ${length} tests of the shipped rules`);
  });
});
