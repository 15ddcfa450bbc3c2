import { appendFileSync, cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';

const root = fileURLToPath(productRoot());

describe('svc-ruletest', function () {
  this.timeout(30_000);
  let directory: string;
  let program: TestProgram | undefined;
  const start = (...args: string[]): TestProgram =>
    (program = new TestProgram(join(root, 'bin', 'svc-ruletest'), args));
  const run = (...args: string[]) => start(...args).ended;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-ruletest-'));
    cpSync(join(root, 'etc', 'ruleset'), directory, { recursive: true });
  });
  afterEach(async () => {
    program?.child.kill('SIGKILL');
    await program?.ended;
    removeTree(directory);
  });
  const test = (rule: number): string => `- {name: added, log: 'app: fatal', expect: {rule: ${String(rule)}}}\n`;

  it('runs the shipped ruleset and asks for tests of every rule', async () => {
    const { code, stdout, stderr } = await run('--require-coverage');
    expect(stderr).to.equal('');
    expect(stdout)
      .to.match(/Rules that a test fires: (\d+) of \1 \(100 %\)/)
      .and.match(/\d+ passed, 0 failed/);
    expect(code).to.equal(0);
  });

  it('fails with an explanation and a report', async () => {
    const file = join(directory, 'tests', 'own.yml');
    writeFileSync(file, test(5710));
    const junit = join(directory, 'junit.xml');
    const { code, stdout } = await run('--ruleset', directory, '--junit', junit, '--grep', 'added');
    expect(code).to.equal(1);
    expect(stdout).to.include(`FAIL ${file}:1 added`).and.include('rule: expected 5710, got 1002');
    expect(stdout).to.include('Rule 5700').and.include('0 passed, 1 failed');
    expect(readFileSync(junit, 'utf8')).to.include('failures="1"');
  });

  it('says in one line why it cannot run', async () => {
    const cases: [string[], string][] = [
      [['--ruleset', directory, join(directory, 'none.yml')], 'none.yml'],
      [['--ruleset', directory, '--grep', 'no such test'], 'no tests'],
      [['--ruleset', `${directory},/nonexistent`], 'no such directory'],
      [['--ruleset', join(directory, 'tests')], 'no ruleset'],
      [['--nonsense'], "unknown option '--nonsense'"],
      [['--ruleset', directory, '--junit', join(directory, 'no', 'dir.xml'), '--grep', 'ufw'], 'ENOENT'],
    ];
    for (const [args, text] of cases) {
      const { code, stderr } = await run(...args);
      expect(code, text).to.equal(2);
      expect(stderr)
        .to.match(/^svc-ruletest: /)
        .and.include(text);
    }
    const skipped = join(directory, 'skipped.yml');
    writeFileSync(skipped, "- {name: later, log: 'app: fatal', expect: {rule: 1002}, skip: 'not yet'}\n");
    const nothing = await run('--ruleset', directory, skipped);
    expect([nothing.code, nothing.stderr]).to.deep.equal([2, `svc-ruletest: ${skipped}: every test is skipped\n`]);
    writeFileSync(join(directory, 'rules', 'broken.xml'), '<group name="a">\n<rule');
    const { code, stderr } = await run('--ruleset', directory);
    expect(code).to.equal(2);
    expect(stderr).to.include('svc-ruletest: ').and.include('broken.xml:2');
  });

  it('prints its help', async () => {
    const { code, stdout } = await run('--help');
    expect(code).to.equal(0);
    expect(stdout).to.include('--require-coverage').and.include('expect_not');
  });

  it('runs again when something changes, also when it was broken meanwhile', async () => {
    const file = join(directory, 'tests', 'own.yml');
    writeFileSync(file, test(1002));
    const watching = start('--ruleset', directory, '--grep', 'added', '--watch');
    const seen = (text: string) => eventually(text, () => (watching.stdout + watching.stderr).includes(text));
    await seen('1 passed, 0 failed');
    appendFileSync(file, test(5710));
    await seen('1 passed, 1 failed');
    const rules = join(directory, 'rules', '0999-own.xml');
    writeFileSync(rules, '<group name="a">');
    await seen('0999-own.xml');
    writeFileSync(
      rules,
      '<group name="a,"><rule id="100001" level="3"><if_sid>1002</if_sid><description>x</description></rule></group>',
    );
    await seen('0 passed, 2 failed');
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).to.equal(0);
  });
});
