import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { type ProgramResult, TestProgram } from '../../support/daemon/run-program.js';
import { RootcheckTree } from '../../support/syscheckd/rootcheck-kit.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-fim', productRoot()));

describe('svc-fim rootcheck', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let tree: RootcheckTree;
  beforeEach(() => {
    home = new TemporaryHome();
    tree = new RootcheckTree();
    writeFileSync(home.path('etc/internal_options.conf'), 'rootcheck.sleep=0\n');
    configure('<rootkit_files>etc/list.txt</rootkit_files><check_files>yes</check_files>');
    writeFileSync(home.path('etc/list.txt'), 'tmp/kit ! Kit ::/kit\n');
  });
  afterEach(() => {
    tree.remove();
    home.remove();
  });

  function configure(inside: string): void {
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config><rootcheck><base_directory>${tree.root}</base_directory>${inside}</rootcheck></manager_config>`,
    );
  }
  const run = (...args: readonly string[]): Promise<ProgramResult> =>
    new TestProgram(PROGRAM, ['rootcheck', '--home', home.root, ...args]).ended;
  const FILES = ['--only', 'files,dev'];

  it('prints what it finds', async () => {
    tree.write('dev/.odd');
    tree.write('tmp/kit');
    const found = [
      `Rootkit 'Kit' detected by the presence of file '${tree.root}/tmp/kit'.`,
      `File '${tree.root}/dev/.odd' present on /dev. Possible hidden file.`,
    ];
    expect(await run(...FILES)).to.deep.include({
      code: 1,
      stderr: '',
      stdout: found.map((text) => `${text}\n`).join(''),
    });
    const { stdout } = await run(...FILES, '--json');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal(found.map((finding) => ({ finding })));
  });

  it('tells by its exit code that there is nothing', async () => {
    expect(await run(...FILES)).to.deep.include({ code: 0, stdout: '', stderr: '' });
  });

  it('says what is wrong with what it is given', async () => {
    expect(await run('--only', 'files,nonsense')).to.deep.include({
      code: 2,
      stderr: "svc-fim: 'nonsense' is no check: there are files, trojans, audit, dev, sys, pids, ports, if\n",
    });
    configure('<disabled>yes</disabled>');
    expect(await run()).to.deep.include({ code: 2, stderr: 'svc-fim: rootcheck is off in this configuration\n' });
    configure('<rootkit_files>etc/none.txt</rootkit_files><check_files>yes</check_files>');
    const { code, stderr } = await run(...FILES);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^svc-fim: The list '.*\/etc\/none.txt' is not used: ENOENT/);
  });

  it('is called off by a signal', async () => {
    configure('<check_ports>yes</check_ports>');
    tree.write('dev/.odd');
    writeFileSync(home.path('etc/local_internal_options.conf'), 'rootcheck.sleep=1000\n');
    const program = new TestProgram(PROGRAM, ['rootcheck', '--home', home.root, '--only', 'dev,ports', '--json']);
    await new Promise((resolve) => program.child.stdout?.once('data', resolve));
    program.signal('SIGINT');
    expect(await program.ended).to.deep.include({ code: 130, stderr: 'svc-fim: called off\n' });
  });
});
