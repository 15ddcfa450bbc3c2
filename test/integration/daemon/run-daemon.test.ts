import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { readDaemonStatus, shownState } from '../../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import type { TestDaemonConfig } from '../../support/daemon/test-daemon.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const NAME = 'svc-monitord';
const LINE = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d svc-monitord: (DEBUG|INFO|WARNING|ERROR|CRITICAL): .+$/;
const isRoot = process.getuid?.() === 0;

describe('runDaemon', function () {
  this.timeout(60_000);

  let home: TemporaryHome;
  let programs: TestProgram[];

  beforeEach(() => {
    home = new TemporaryHome();
    programs = [];
  });

  afterEach(async () => {
    for (const program of programs) program.signal('SIGKILL');
    await Promise.all(programs.map((program) => program.ended));
    home.remove();
  });

  function configure(config: TestDaemonConfig, name: DaemonName = NAME): void {
    writeFileSync(home.path('etc', `${name}.test.json`), JSON.stringify(config));
  }

  function launch(args: string[] = [], name: DaemonName = NAME, at = home.root): TestProgram {
    const program = new TestProgram('test-daemon.js', [name, '--home', at, ...args]);
    programs.push(program);
    return program;
  }

  async function running(name: DaemonName = NAME): Promise<void> {
    await eventually(`${name} running`, async () => (await readDaemonStatus(home)).get(name)?.state === 'running');
  }

  const log = () => readFileSync(home.path('logs', 'manager.log'), 'utf8').trimEnd().split('\n');

  it('shows version and help, and refuses unknown flags, without a home', async () => {
    const version = await launch(['-V']).ended;
    expect(version.code).to.equal(0);
    expect(version.stdout).to.match(/^svc-monitord v\d+\.\d+\.\d+/);
    const help = await launch(['-h']).ended;
    expect(help.code).to.equal(0);
    expect(help.stdout).to.include('--home');
    const unknown = await launch(['--bogus']).ended;
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.equal("svc-monitord: unknown option '--bogus'\n");
  });

  it('refuses a directory that is no home with one line', async () => {
    const result = await launch([], NAME, home.path('etc')).ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^svc-monitord: '.*etc' is not a home \(make one with: svc-control init .*\)\n$/);
  });

  it('checks the configuration with -t: silent and 0, or the problem and 1', async () => {
    const good = await launch(['-t']).ended;
    expect(good).to.include({ code: 0, stdout: '', stderr: '' });
    configure({ checkError: 'etc/manager.conf: line 7: no such element' });
    const bad = await launch(['-t']).ended;
    expect(bad.code).to.equal(1);
    expect(bad.stderr.trimEnd()).to.match(LINE).and.to.include('ERROR: etc/manager.conf: line 7: no such element');
    expect(existsSync(home.path('logs', 'manager.log')), '-t writes nothing').to.equal(false);
  });

  it('takes -D and -c as scripts pass them, but no foreign configuration', async () => {
    const program = new TestProgram('test-daemon.js', [NAME, '-t', '-D', home.root, '-c', 'etc/ossec.conf']);
    programs.push(program);
    expect(await program.ended).to.include({ code: 0, stderr: '' });
    const foreign = await launch(['-t', '-c', '/etc/passwd']).ended;
    expect(foreign.code).to.equal(1);
    expect(foreign.stderr).to.equal(
      'svc-monitord: -c /etc/passwd: only the main configuration of the home can be used (etc/manager.conf)\n',
    );
  });

  it('writes the log files that the configuration names, anew after a reload', async () => {
    const format = (words: string) =>
      writeFileSync(
        home.path('etc', 'manager.conf'),
        `<manager_config><logging><log_format>${words}</log_format></logging></manager_config>`,
      );
    format('json');
    const program = launch();
    await running();
    expect(existsSync(home.path('logs', 'manager.log'))).to.equal(false);
    format('plain');
    program.signal('SIGHUP');
    await eventually('the plain log', () => existsSync(home.path('logs', 'manager.log')));
    program.signal('SIGTERM');
    await program.ended;
    expect(log()[0]).to.include('Configuration reloaded.');
    expect(readFileSync(home.path('logs', 'manager.json'), 'utf8').trimEnd().split('\n')).to.have.length(1);
  });

  it('reports pid, start time and the bound port before it counts as running', async () => {
    configure({ port: 0 });
    const program = launch();
    await running();
    const status = (await readDaemonStatus(home)).get(NAME);
    expect(status?.pid).to.equal(program.pid);
    expect(status?.addresses?.['main']?.port).to.be.greaterThan(0);
    expect(readFileSync(home.path('var', 'run', `${NAME}-${program.pid}.pid`), 'utf8')).to.equal(`${program.pid}\n`);
    expect((await readDaemonStatus(home)).get('svc-apid')).to.deep.equal({ state: 'stopped' });
  });

  it('logs its life in both forms and leaves nothing in var/run', async () => {
    const program = launch();
    await running();
    program.signal('SIGTERM');
    expect((await program.ended).code).to.equal(0);
    expect(log()).to.have.length(2);
    for (const line of log()) expect(line).to.match(LINE);
    expect(log()[0]).to.match(new RegExp(`INFO: Started \\(pid: ${program.pid}\\)\\.$`));
    expect(log()[1]).to.match(/INFO: \(1225\): SIGNAL \[\(15\)-\(Terminated\)\] Received\. Exit Cleaning\.\.\.$/);
    const json = readFileSync(home.path('logs', 'manager.json'), 'utf8').trimEnd().split('\n');
    expect(json[0]).to.match(
      /^\{"timestamp":"\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d","tag":"svc-monitord","level":"info","description":"Started /,
    );
    expect(readdirSync(home.path('var', 'run'))).to.deep.equal([]);
  });

  it('drains before it ends', async () => {
    configure({ stopMs: 300 });
    const program = launch();
    await running();
    program.signal('SIGTERM');
    program.signal('SIGTERM');
    expect((await program.ended).code).to.equal(0);
    expect(existsSync(home.path('var', `${NAME}.drained`))).to.equal(true);
  });

  it('stops what it has begun when building it fails', async () => {
    configure({ buildError: 'no more parts' });
    const result = await launch(['-f']).ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.include('CRITICAL: no more parts');
    expect(existsSync(home.path('var', `${NAME}.drained`))).to.equal(true);
  });

  it('ends within 5 s also when it cannot drain, and says so with exit code 1', async () => {
    configure({ stopMs: 600_000 });
    const program = launch();
    await running();
    program.signal('SIGTERM');
    expect((await program.ended).code).to.equal(1);
    expect(log().at(-1)).to.include('WARNING: Not stopped within 4.5 s');
  });

  it('obeys a signal that comes while it is being built', async () => {
    configure({ buildMs: 400 });
    const program = launch();
    await eventually('the lock', () => existsSync(new RunFiles(home, NAME).lock()));
    expect((await readDaemonStatus(home)).get(NAME)?.state).to.equal('starting');
    await eventually('the pid file', () => existsSync(home.path('var', 'run', `${NAME}-${program.pid}.pid`)));
    program.signal('SIGTERM');
    expect((await program.ended).code).to.equal(0);
  });

  it('refuses to run twice on one home, also when started at the same moment', async () => {
    const racers = [launch(), launch(), launch(), launch()];
    await running();
    const winner = (await readDaemonStatus(home)).get(NAME)?.pid;
    const losers = racers.filter(({ pid }) => pid !== winner);
    expect(losers).to.have.length(3);
    for (const loser of losers) {
      const result = await loser.ended;
      expect(result.code).to.equal(1);
      expect(result.stderr).to.equal(`${NAME} is already running (pid ${winner})\n`);
    }
  });

  it('takes over from a killed predecessor', async () => {
    const first = launch();
    await running();
    first.signal('SIGKILL');
    await first.ended;
    expect((await readDaemonStatus(home)).get(NAME)?.state).to.equal('stopped');
    launch();
    await running();
  });

  it('reloads on SIGHUP, names what needs a restart, and keeps running when the reload is refused', async () => {
    configure({ restartNeeded: ['remote', 'auth'] });
    const program = launch();
    await running();
    const record = () => readRunRecord(new RunFiles(home, NAME).record());
    program.signal('SIGHUP');
    await eventually('the first reload', () => record()?.reload?.count === 1);
    expect(record()?.reload?.restartNeeded).to.deep.equal(['remote', 'auth']);
    configure({ reloadError: 'etc/manager.conf: line 3: bad' });
    program.signal('SIGHUP');
    await eventually('the second reload', () => record()?.reload?.count === 2);
    expect(record()?.reload?.error).to.equal('etc/manager.conf: line 3: bad');
    expect(
      log()
        .slice(1)
        .map((line) => line.replace(/^.*?: /, '')),
    ).to.deep.equal([
      'INFO: Configuration reloaded.',
      'WARNING: These sections changed and take effect after a restart: remote, auth.',
      'ERROR: Reload refused, the running configuration stays: etc/manager.conf: line 3: bad',
    ]);
    await running();
  });

  it('shows a problem while it lasts', async () => {
    configure({ problem: 'The ruleset does not load' });
    launch();
    await running();
    const status = (await readDaemonStatus(home)).get(NAME);
    expect(status?.problem).to.equal('The ruleset does not load');
    expect(shownState(status)).to.equal('running');
    expect(log()[0]).to.include('ERROR: The ruleset does not load');
  });

  it('logs an uncaught error once and exits 1', async () => {
    configure({ crashAfterMs: 10 });
    const program = launch();
    expect((await program.ended).code).to.equal(1);
    expect(log().filter((line) => line.includes('CRITICAL'))).to.have.length(1);
    expect(log().at(-1)).to.include('CRITICAL: test crash');
    const exit: unknown = JSON.parse(readFileSync(new RunFiles(home, NAME).exit(), 'utf8'));
    expect(exit).to.include({ message: 'test crash', pid: program.pid });
  });

  it('says which port is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    configure({ port });
    const result = await launch(['-f']).ended;
    server.close();
    expect(result.code).to.equal(1);
    expect(result.stderr.trimEnd().split('\n')).to.have.length(1);
    expect(result.stderr).to.include(`CRITICAL: 127.0.0.1 port ${port} is already in use by another process`);
  });

  it('fails with one line when the home cannot be written', async function () {
    if (!isRoot) this.skip();
    // Root may write anywhere, so the daemon runs as nobody.
    chmodSync(home.root, 0o755);
    const program = new TestProgram('test-daemon.js', [NAME, '--home', home.root], { uid: 65_534, gid: 65_534 });
    programs.push(program);
    const result = await program.ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^svc-monitord cannot start: .*var\/run.*: permission denied\n$/);
  });

  it('writes debug lines with their origin with -d, and to standard error with -f', async () => {
    const program = launch(['-f', '-d']);
    await running();
    program.signal('SIGINT');
    const result = await program.ended;
    expect(result.code).to.equal(0);
    expect(result.stderr).to.match(/^\S+ \S+ svc-monitord\[\d+\] test-daemon\.cjs:\d+ at \S+\(\): DEBUG: built$/m);
    expect(result.stderr).to.include('SIGNAL [(2)-(Interrupt)]');
    expect(result.stderr.trimEnd().split('\n')).to.deep.equal(log());
  });

  it('goes on when the reader of its standard error is gone', async () => {
    const program = launch(['-f']);
    await running();
    program.child.stderr?.destroy();
    for (const count of [1, 2]) {
      program.signal('SIGHUP');
      await eventually('a reload', () => readRunRecord(new RunFiles(home, NAME).record())?.reload?.count === count);
    }
    await running();
  });

  it('goes on in the new file after a rotation', async () => {
    const program = launch();
    await running();
    renameSync(home.path('logs', 'manager.log'), home.path('logs', 'old.log'));
    program.signal('SIGTERM');
    await program.ended;
    expect(log()).to.have.length(1);
    expect(log()[0]).to.include('SIGNAL');
    expect(readFileSync(home.path('logs', 'old.log'), 'utf8')).to.match(/Started \(pid: \d+\)\.\n$/);
  });

  it('runs on two homes side by side', async () => {
    const other = new TemporaryHome();
    try {
      configure({ port: 0 });
      launch();
      const second = launch([], NAME, other.root);
      await running();
      await eventually('the other', async () => (await readDaemonStatus(other)).get(NAME)?.state === 'running');
      second.signal('SIGTERM');
      await second.ended;
      await running();
      expect((await readDaemonStatus(other)).get(NAME)?.state).to.equal('stopped');
    } finally {
      other.remove();
    }
  });
});
