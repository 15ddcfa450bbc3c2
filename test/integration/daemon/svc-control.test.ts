import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { liveProcess } from '../../../bin/control/supervisor/live-process.js';
import { callSupervisor } from '../../../lib/control/control-client.js';
import { controlSocket, supervisorLock } from '../../../lib/control/control-protocol.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { identityOf } from '../../../lib/process/process-identity.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { testCatalogue } from '../../support/daemon/test-catalogue.js';
import type { TestDaemonConfig } from '../../support/daemon/test-daemon.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DAEMONS: readonly DaemonName[] = ['svc-apid', 'svc-analysisd'];
const isRoot = process.getuid?.() === 0;

type StatusItem = { daemon: string; status: string; pid?: number; restarts?: number; problem?: string };

describe('svc-control', function () {
  // Each test starts a dozen processes; on a busy host that takes its time.
  this.timeout(60_000);

  let home: TemporaryHome;
  let programs: TestProgram[];

  beforeEach(() => {
    home = new TemporaryHome();
    programs = [];
  });

  afterEach(async () => {
    killSupervisor(home);
    for (const program of programs) program.signal('SIGKILL');
    for (const name of DAEMONS) {
      const live = liveProcess(new RunFiles(home, name));
      if (live !== undefined) process.kill(live.pid, 'SIGKILL');
    }
    await Promise.all(programs.map((program) => program.ended));
    home.remove();
  });

  /** A control program of its own, for what has to be a process. */
  function launch(args: readonly string[], options: ConstructorParameters<typeof TestProgram>[2] = {}): TestProgram {
    const program = new TestProgram('test-control.js', [DAEMONS.join(','), ...args, '--home', home.root], options);
    programs.push(program);
    return program;
  }

  type Said = { code: number; stdout: string; stderr: string };

  /** The same inside this process: a command takes milliseconds then. */
  async function controlAt(root: string, ...args: string[]): Promise<Said> {
    const said = { code: 0, stdout: '', stderr: '' };
    said.code = await runControl([...args, '--home', root], {
      catalogue: testCatalogue(DAEMONS),
      write: (text) => (said.stdout += text),
      writeError: (text) => (said.stderr += text),
      terminal: false,
    });
    return said;
  }

  const control = (...args: string[]) => controlAt(home.root, ...args);

  function configure(name: DaemonName, config: TestDaemonConfig): void {
    writeFileSync(home.path('etc', `${name}.test.json`), JSON.stringify(config));
  }

  async function statusOf(name: DaemonName): Promise<StatusItem> {
    const { stdout } = await control('status', '-j');
    const { data } = JSON.parse(stdout) as { data: StatusItem[] };
    return data.find(({ daemon }) => daemon === name)!;
  }

  const state = async (name: DaemonName) => (await readDaemonStatus(home)).get(name)!;

  /** What a service manager is told, and the environment in which it is. */
  function notified(): { readonly calls: string; readonly env: Record<string, string> } {
    const calls = home.path('notified');
    rmSync(calls, { force: true });
    writeFileSync(home.path('bin', 'systemd-notify'), `#!/bin/sh\necho "$*" >> ${calls}\n`, { mode: 0o755 });
    return { calls, env: { NOTIFY_SOCKET: '/nowhere', PATH: `${home.path('bin')}:${process.env['PATH'] ?? ''}` } };
  }

  function killSupervisor(at: TemporaryHome): number | undefined {
    const holder = ProcessLock.holder(supervisorLock(at));
    if (holder !== undefined) process.kill(holder.pid, 'SIGKILL');
    return holder?.pid;
  }

  it('starts, reports and stops in the words scripts know', async () => {
    const start = await control('start');
    expect(start.stderr).to.equal('');
    expect(start.stdout).to.match(
      /^Starting Security Manager v\d+\.\d+\.\d+\.\.\.\nStarted svc-apid\.\.\.\nStarted svc-analysisd\.\.\.\nCompleted\.\n$/,
    );
    expect(start.code).to.equal(0);
    const status = await control('status');
    expect(status.code).to.equal(0);
    expect(status.stdout.trimEnd().split('\n')).to.deep.equal([
      'svc-clusterd not running...',
      'svc-modulesd not running...',
      'svc-monitord not running...',
      'svc-logcollector not running...',
      'svc-remoted not running...',
      'svc-syscheckd not running...',
      'svc-analysisd is running...',
      'svc-execd not running...',
      'svc-db not running...',
      'svc-authd not running...',
      'svc-apid is running...',
    ]);
    const table = await control('status', '--table');
    expect(table.stdout).to.match(/^DAEMON +STATE +PID +UPTIME +MEMORY +RESTARTS\n/);
    expect(table.stdout).to.match(/^svc-apid +running +\d+ +\d+s +[\d.]+ MiB +0$/m);
    const stop = await control('stop');
    expect(stop.code).to.equal(0);
    expect(stop.stdout).to.match(/^svc-clusterd not running\.\.\.\n/);
    expect(stop.stdout).to.include('Killing svc-apid...\n');
    expect(stop.stdout).to.match(/Security Manager v\d+\.\d+\.\d+ Stopped\n$/);
    expect(ProcessLock.holder(supervisorLock(home)), 'the supervisor ends with its daemons').to.equal(undefined);
    expect(readdirSync(home.path('var', 'run')).filter((name) => !name.endsWith('.stderr'))).to.deep.equal([]);
    expect((await control('status')).code).to.equal(1);
  });

  it('starts straight after a stop without meeting the old supervisor', async () => {
    await control('start');
    // One of several: the supervisor stays. With the last one it ends.
    expect((await control('stop', 'svc-apid')).code).to.equal(0);
    expect(ProcessLock.holder(supervisorLock(home))).not.to.equal(undefined);
    expect((await control('stop', 'svc-analysisd')).code).to.equal(0);
    expect(ProcessLock.holder(supervisorLock(home))).to.equal(undefined);
    const start = await control('start');
    expect(start.stdout).to.include('Started svc-apid...').and.include('Completed.');
    expect(start.code).to.equal(0);
  });

  it('speaks JSON with -j in any place', async () => {
    const start = await control('-j', 'start');
    expect(start.stdout).to.match(/^\{.*\}\n$/);
    const { error, data } = JSON.parse(start.stdout) as { error: number; data: StatusItem[] };
    expect(error).to.equal(0);
    expect(data.map(({ daemon, status }) => [daemon, status])).to.deep.equal([
      ['svc-apid', 'running'],
      ['svc-analysisd', 'running'],
    ]);
    const status = JSON.parse((await control('status', 'apid', '-j')).stdout) as { data: StatusItem[] };
    expect(status.data).to.have.length(1);
    expect(status.data[0]).to.include({ daemon: 'svc-apid', status: 'running', restarts: 0 });
    expect(Object.keys(status.data[0]!).slice(0, 2)).to.deep.equal(['daemon', 'status']);
    const stop = JSON.parse((await control('stop', '-j')).stdout) as { error: number; data: StatusItem[] };
    expect(stop.error).to.equal(0);
    expect(stop.data.every((item) => item.status === 'stopped')).to.equal(true);
  });

  it('says so when everything runs already, and starts only what is missing otherwise', async () => {
    await control('start');
    const again = await control('start');
    expect(again.code).to.equal(1);
    expect(again.stdout)
      .to.include('svc-apid already running...')
      .and.to.include('Security Manager is already running.');
    const foreground = await launch(['run']).ended;
    expect(foreground.code).to.equal(1);
    expect(foreground.stderr).to.match(/^svc-control: already running for .* \(supervisor pid \d+\)\n$/);
    expect((await control('stop', 'svc-apid')).stdout).to.equal('Killing svc-apid...\n');
    expect((await control('status')).code).to.equal(1);
    const missing = await control('start');
    expect(missing.code).to.equal(0);
    expect(missing.stdout).to.include('Started svc-apid...').and.to.include('svc-analysisd already running...');
  });

  it('starts a killed daemon again with back-off and shows it stopped in between', async () => {
    await control('start');
    const { pid } = await state('svc-apid');
    process.kill(pid!, 'SIGKILL');
    await eventually('stopped', async () => (await state('svc-apid')).state === 'stopped');
    // The supervisor hears of it a moment after the kernel.
    const between = await eventually('the reason', async () => {
      const now = await statusOf('svc-apid');
      return now.problem !== undefined && now;
    });
    expect(between).to.include({ status: 'stopped', problem: 'signal SIGKILL' });
    const after = await eventually('running again', async () => {
      const now = await state('svc-apid');
      return now.state === 'running' && now.pid !== pid && now;
    });
    expect(after.pid).to.not.equal(pid);
    expect((await statusOf('svc-apid')).restarts).to.equal(1);
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    expect(log).to.match(
      new RegExp(`svc-control: ERROR: svc-apid \\(pid ${pid}\\) ended and is started again in 1 s: signal SIGKILL`),
    );
  });

  it('takes over running daemons after the supervisor was killed', async () => {
    await control('start');
    const before = await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid));
    killSupervisor(home);
    await eventually('no supervisor', () => ProcessLock.holder(supervisorLock(home)) === undefined);
    expect((await control('status')).code, 'daemons outlive it').to.equal(0);
    const again = await control('start');
    expect(again.code).to.equal(0);
    expect(again.stdout).to.include('svc-apid already running...');
    expect(await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid))).to.deep.equal(before);
    process.kill(before[0]!, 'SIGKILL');
    await eventually('watched again', async () => {
      const now = await state('svc-apid');
      return now.state === 'running' && now.pid !== before[0];
    });
  });

  it('stops daemons whose supervisor is gone', async () => {
    await control('start');
    killSupervisor(home);
    await eventually('no supervisor', () => ProcessLock.holder(supervisorLock(home)) === undefined);
    const stop = await control('stop');
    expect(stop.code).to.equal(0);
    expect(stop.stdout).to.include('Killing svc-apid...');
    for (const name of DAEMONS) expect((await state(name)).state).to.equal('stopped');
  });

  it('restarts one daemon, and all', async () => {
    await control('start');
    const before = await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid));
    expect((await control('restart', 'svc-analysisd')).code).to.equal(0);
    const one = await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid));
    expect(one.map((pid, index) => pid !== before[index])).to.deep.equal([false, true]);
    expect((await control('restart')).code).to.equal(0);
    const all = await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid));
    expect(all.map((pid, index) => pid !== one[index])).to.deep.equal([true, true]);
    expect(existsSync(home.path('var', 'run', '.restart'))).to.equal(false);
  });

  it('refuses start, restart and reload over a broken configuration and leaves what runs alone', async () => {
    await control('start');
    const { pid } = await state('svc-analysisd');
    await control('stop', 'svc-apid');
    configure('svc-analysisd', { checkError: 'etc/rules/bad.xml: line 4: tag not closed' });
    for (const command of ['start', 'restart', 'reload']) {
      const result = await control(command);
      expect(result.code, command).to.equal(1);
      expect(result.stderr, command).to.include('svc-analysisd: ERROR: etc/rules/bad.xml: line 4: tag not closed');
      expect(result.stdout, command).to.equal('svc-analysisd: Configuration error. Exiting\n');
    }
    const json = JSON.parse((await control('start', '-j')).stdout) as Record<string, unknown>;
    expect(json).to.include({ error: 20, message: 'svc-analysisd: Configuration error.' });
    expect((await state('svc-analysisd')).pid).to.equal(pid);
    expect((await state('svc-apid')).state, 'nothing was started').to.equal('stopped');
  });

  it('has a supervisor at hand that touches nothing before it is told to begin', async () => {
    const untold = launch(['run', '--detached', '--when-told']);
    const { code, stderr } = await untold.ended;
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(existsSync(supervisorLock(home))).to.equal(false);
    configure('svc-analysisd', { checkError: 'etc/manager.conf: line 9' });
    const start = await control('start');
    expect([start.code, start.stdout]).to.deep.equal([1, 'svc-analysisd: Configuration error. Exiting\n']);
    const isLeft = (): boolean =>
      readdirSync('/proc').some((pid) => {
        try {
          const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
          return line.includes('--when-told') && line.includes(home.root);
        } catch {
          return false;
        }
      });
    await eventually('the supervisor that is not needed has ended', () => !isLeft());
    expect(existsSync(supervisorLock(home))).to.equal(false);
  });

  it('reloads in place and tells what was refused', async () => {
    await control('start');
    const { pid } = await state('svc-apid');
    configure('svc-apid', { restartNeeded: ['port'] });
    configure('svc-analysisd', { reloadError: 'etc/manager.conf: line 9' });
    const result = await control('reload');
    expect(result.code).to.equal(1);
    expect(result.stdout).to.equal('Reloaded svc-apid... Restart it for the changes in: port.\n');
    expect(result.stderr).to.equal(
      'svc-analysisd: reload refused, what runs stays as it is: etc/manager.conf: line 9\n',
    );
    expect((await state('svc-apid')).pid).to.equal(pid);
  });

  it('tells why a daemon did not start, keeps the others, and tries it again', async () => {
    configure('svc-apid', { buildError: '127.0.0.1 port 55000 is already in use' });
    const start = await control('start');
    expect(start.code).to.equal(1);
    expect(start.stderr).to.equal('svc-apid did not start correctly: 127.0.0.1 port 55000 is already in use\n');
    expect(start.stdout).to.include('Started svc-analysisd...').and.not.to.include('Completed.');
    expect((await state('svc-apid')).state).to.equal('failed');
    expect(await statusOf('svc-apid')).to.include({
      status: 'stopped',
      problem: '127.0.0.1 port 55000 is already in use',
    });
    configure('svc-apid', {});
    await eventually('the next try', async () => (await state('svc-apid')).state === 'running');
  });

  it('runs in the foreground, shows log lines and ends on SIGINT with everything stopped', async () => {
    const run = launch(['run']);
    await eventually('all running', async () => (await control('status')).code === 0);
    expect(run.stderr).to.match(/ svc-apid: INFO: Started \(pid: \d+\)\.\n/);
    run.signal('SIGINT');
    expect((await run.ended).code).to.equal(0);
    for (const name of DAEMONS) expect((await state(name)).state).to.equal('stopped');
  });

  it('stops its daemons though somebody has removed the home', async () => {
    const run = launch(['run']);
    await eventually('all running', async () => (await control('status')).code === 0);
    const pids = await Promise.all(DAEMONS.map(async (name) => (await state(name)).pid!));
    removeTree(home.path('var'));
    run.signal('SIGTERM');
    expect((await run.ended).code, run.stderr).to.equal(0);
    // One that has ended is in /proc until init, whose child it is after the supervisor, has asked how.
    for (const pid of pids) expect(identityOf(pid), `process ${pid}`).to.equal(undefined);
  });

  it('ends with one clear line and exit code 1 when a daemon fails in the foreground', async () => {
    configure('svc-apid', { buildError: '127.0.0.1 port 55000 is already in use' });
    const result = await launch(['run']).ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(
      /^svc-control: svc-apid did not start correctly: 127\.0\.0\.1 port 55000 is already in use$/m,
    );
    for (const name of DAEMONS) expect((await state(name)).pid).to.equal(undefined);
  });

  it('goes on in the foreground when a daemon breaks that has run, and has it again when it is mended', async () => {
    const { calls, env } = notified();
    const run = launch(['run'], { env });
    // Earlier all may run, and a daemon that breaks still be one that did not start.
    await eventually('all have started', () => existsSync(calls));
    const { pid } = await state('svc-analysisd');
    configure('svc-apid', { buildError: 'its store is damaged' });
    process.kill((await state('svc-apid')).pid!, 'SIGKILL');
    await eventually('it does not start', () => run.stderr.includes('svc-apid did not start correctly (next try in'));
    expect(run.child.exitCode).to.equal(null);
    expect((await state('svc-analysisd')).pid).to.equal(pid);
    configure('svc-apid', {});
    await eventually('the next try', async () => (await state('svc-apid')).state === 'running');
    run.signal('SIGINT');
    expect((await run.ended).code).to.equal(0);
  });

  it('ends at once on SIGINT in the middle of a start', async () => {
    configure('svc-apid', { buildMs: 600_000 });
    const run = launch(['run']);
    await eventually('a start that takes long', () => ProcessLock.holder(new RunFiles(home, 'svc-apid').lock()));
    run.signal('SIGINT');
    expect((await run.ended).code).to.equal(0);
    for (const name of DAEMONS) expect((await state(name)).pid).to.equal(undefined);
  });

  it('announces itself to a service manager and outlives a daemon that does not start', async () => {
    configure('svc-apid', { buildError: 'no' });
    const { calls, env } = notified();
    const run = launch(['run', '--service'], { env });
    await eventually('ready', () => existsSync(calls));
    expect(readFileSync(calls, 'utf8')).to.equal('READY=1 STATUS=Not running, tried again: svc-apid\n');
    expect(run.stderr).to.equal('');
    const { pid } = await state('svc-analysisd');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(environment).to.not.include('NOTIFY_SOCKET');
    expect(environment.split('\0'), 'memory is allocated sparingly').to.include('MALLOC_ARENA_MAX=2');
    run.signal('SIGTERM');
    expect((await run.ended).code).to.equal(0);
    expect(readFileSync(calls, 'utf8')).to.match(/\nSTOPPING=1\n$/);
  });

  it('cleans stale pid files and says so', async () => {
    const stale = home.path('var', 'run', 'svc-apid-4194999.pid');
    writeFileSync(stale, '4194999\n');
    const status = await control('status');
    expect(status.stdout).to.match(/^svc-apid: Process 4194999 not used by Security Manager, removing\.\.\.\n/);
    expect(existsSync(stale)).to.equal(false);
    writeFileSync(stale, '4194999\n');
    writeFileSync(home.path('tmp', 'left-over'), '');
    const start = await control('start');
    expect(start.stdout).to.include(`Deleting PID file '${stale}' not used...\n`);
    expect(readdirSync(home.path('tmp'))).to.deep.equal([]);
    await control('stop');
  });

  it('takes over the lock of a dead control program', async () => {
    const directory = home.path('var', 'start-script-lock');
    mkdirSync(directory);
    writeFileSync(home.path('var', 'start-script-lock', 'pid'), '4194999\n');
    expect((await control('start')).code).to.equal(0);
    expect(existsSync(directory)).to.equal(false);
  });

  it('fails with one line when the home cannot be written', async function () {
    if (!isRoot) this.skip();
    chmodSync(home.root, 0o755);
    const program = launch(['start'], { uid: 65_534, gid: 65_534 });
    const result = await program.ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^svc-control: .*: permission denied\n$/);
  });

  it('answers rubbish on its socket with an error and goes on', async () => {
    await control('start');
    for (const rubbish of ['garbage\n', '{"command":"format"}\n', '[]\n', 'x'.repeat(300_000)]) {
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(controlSocket(home), () => socket.write(rubbish));
        let text = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        socket.on('error', () => {});
        socket.on('close', () => resolve(text));
      });
      expect(answer).to.match(/^\{"kind":"error","message":"[^"]+"\}\n$/);
    }
    expect((await callSupervisor(home, { command: 'ping' }))?.pid).to.be.greaterThan(0);
    let refusal = '';
    await callSupervisor(home, { command: 'start', daemons: ['svc-nosuch'] }).catch((error: Error) => {
      refusal = error.message;
    });
    expect(refusal).to.equal("'svc-nosuch' is not a daemon of this home");
  });

  it('names unknown daemons, commands and those this version does not have', async () => {
    const unknown = await control('start', 'nosuch');
    expect(unknown).to.include({ code: 1, stderr: "svc-control: 'nosuch' is not a daemon of this home\n" });
    const missing = await control('start', 'svc-clusterd');
    expect(missing).to.include({ code: 1, stderr: 'svc-control: svc-clusterd is not available in this version\n' });
    expect((await control('bogus')).code).to.equal(1);
    expect((await control('--help')).code).to.equal(0);
    expect((await control('help')).code).to.equal(0);
  });

  it('shows versions and switches debug', async () => {
    const info = await control('info');
    expect(info.stdout.split('\n').slice(0, 3)).to.deep.equal([
      'WAZUH_VERSION="v4.14.7"',
      'WAZUH_REVISION="rc1"',
      'WAZUH_TYPE="server"',
    ]);
    expect(info.stdout).to.match(/^VERSION="v\d+\.\d+\.\d+"$/m);
    expect((await control('info', '-t')).stdout).to.equal('server\n');
    expect(await control('info', '-x')).to.include({ code: 1, stdout: 'Invalid flag: -x\n' });
    expect((await control('enable', 'debug')).code).to.equal(0);
    expect(readFileSync(home.path('bin', '.process_list'), 'utf8')).to.equal('DEBUG_CLI="-d"\n');
    await control('start', 'svc-apid');
    expect(readFileSync(home.path('logs', 'manager.log'), 'utf8')).to.match(/svc-apid\[\d+\] .*: DEBUG: built/);
    expect((await control('disable', 'debug')).code).to.equal(0);
    expect(readFileSync(home.path('bin', '.process_list'), 'utf8')).to.equal('DEBUG_CLI=""\n');
  });

  it('keeps two homes apart', async () => {
    const other = new TemporaryHome();
    try {
      await control('start');
      expect((await controlAt(other.root, 'start')).code).to.equal(0);
      expect((await controlAt(other.root, 'stop')).code).to.equal(0);
      expect((await control('status')).code).to.equal(0);
      expect((await controlAt(other.root, 'status')).code).to.equal(1);
    } finally {
      await controlAt(other.root, 'stop');
      other.remove();
    }
  });
});
