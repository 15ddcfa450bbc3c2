import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { scaCommand } from '../../../../bin/sca/sca-command.js';
import { textStyle } from '../../../../bin/terminal/text-style.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const POLICY = `policy: {id: demo, file: demo.yml, name: "Demo baseline", description: d}
requirements: {title: "a file", condition: all, rules: ["f:$base/yes"]}
variables: {$base: BASE}
checks:
  - {id: 1, title: "There is a file", condition: all, rules: ["f:$base/yes", "f:$base/yes -> r:^a"]}
  - {id: 2, title: "There is none", condition: none, rules: ["f:$base/no", "f:$base/yes"]}
  - {id: 3, title: "Says so", condition: all, rules: ["c:echo yes -> r:^yes$"]}
  - {id: 4, title: "Cannot be said", condition: all, rules: ["f:$base/no -> r:x"]}
`;

describe('svc-sca', () => {
  let home: TemporaryHome;
  let file: string;

  before(() => {
    home = new TemporaryHome();
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
    writeFileSync(
      home.path('etc', 'manager.conf'),
      '<manager_config><sca><policies><policy>tmp/demo.yml</policy></policies></sca></manager_config>',
    );
    mkdirSync(home.path('ruleset', 'sca'), { recursive: true });
    writeFileSync(home.path('yes'), 'abc\n');
    file = home.path('tmp', 'demo.yml');
    writeFileSync(file, POLICY.replace('BASE', home.root));
  });
  after(() => {
    home.remove();
  });

  async function run(...args: string[]) {
    let out = '';
    let errors = '';
    const code = await scaCommand(args, {
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
      style: textStyle(false, {}),
      signal: new AbortController().signal,
    });
    return { code, out: out.replaceAll(home.root, 'HOME'), errors };
  }

  it('shows each check of a policy, and why it did not pass', async () => {
    const { code, out, errors } = await run(file);
    expect([code, errors]).to.deep.equal([1, '']);
    expect(out.split('\n')).to.deep.equal([
      'Demo baseline HOME/tmp/demo.yml',
      'pass Required: a file',
      'pass 1 There is a file',
      'FAIL 2 There is none',
      '       not-found f:HOME/no',
      '       found     f:HOME/yes',
      'pass 3 Says so',
      "n/a  4 Cannot be said: Could not open file 'HOME/no'",
      "       invalid   f:HOME/no -> r:x (Could not open file 'HOME/no')",
      '2 passed, 1 failed, 1 not applicable: score 66',
      '',
    ]);
  });

  it('takes those of a home, one check of them, as JSON, and without commands', async () => {
    const one = await run('--home', home.root, '--check', '1', '-v');
    expect([one.code, one.errors]).to.deep.equal([0, '']);
    expect(one.out).to.match(/pass 1 There is a file\n {7}found {5}f:HOME\/yes\n {7}found {5}f:HOME\/yes -> r:\^a\n/);
    const json = await run('--home', home.root, '--json', '--no-commands', '--check', '3');
    expect(JSON.parse(json.out)).to.deep.equal({
      ...{ policy: 'demo', id: 3, title: 'Says so', result: 'not applicable' },
      reason: "Command 'echo yes' is not run: --no-commands",
      looked: { file: [], directory: [], process: [], command: ['echo yes'] },
      rules: [
        {
          ...{ rule: 'c:echo yes -> r:^yes$', finding: 'invalid' },
          reason: "Command 'echo yes' is not run: --no-commands",
        },
      ],
    });
    expect((await run(file, '--check', '9')).code).to.equal(2);
  });

  it('skips a policy whose requirements are not met', async () => {
    writeFileSync(home.path('tmp', 'skipped.yml'), POLICY.replace('BASE', '/nowhere'));
    const { code, out } = await run(home.path('tmp', 'skipped.yml'));
    expect(out).to.match(/^FAIL Required: a file\n {7}not-found f:\/nowhere\/yes\nSkipping policy 'demo'/m);
    expect(code).to.equal(2);
  });

  it('only reads policies, and names what is wrong', async () => {
    expect(await run('--validate', file)).to.deep.equal({ code: 0, out: 'HOME/tmp/demo.yml: 4 checks\n', errors: '' });
    writeFileSync(home.path('tmp', 'bad.yml'), POLICY.replace('condition: none', 'condition: never'));
    const bad = await run('--validate', home.path('tmp', 'bad.yml'), home.path('none.yml'));
    expect(bad.code).to.equal(2);
    expect(bad.errors).to.match(/none\.yml' not found\.\n.*bad\.yml line 6: check 2: 'condition' is 'never'/);
    writeFileSync(home.path('tmp', 'regex.yml'), POLICY.replace('r:^a', 'r:('));
    const regex = await run('--validate', home.path('tmp', 'regex.yml'));
    expect([regex.code, regex.errors]).to.match(
      /2,.*regex\.yml line 5: check 1: rule 2 can give no result: Invalid regex/,
    );
    expect((await run('--home', home.path('tmp'))).code).to.equal(2);
    expect((await run('--nonsense')).code).to.equal(2);
    expect((await run('--help')).code).to.equal(0);
  });
});
