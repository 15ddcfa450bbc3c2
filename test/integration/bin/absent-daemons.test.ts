import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { whyUnavailable } from '../../../bin/terminal/why-unavailable.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { ownIdentity } from '../../../lib/process/process-identity.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const program = (name: string): string => join(fileURLToPath(productRoot()), 'bin', name);

/** Every program that needs a daemon, and the one it asks first. */
const TOOLS: readonly (readonly [name: string, args: readonly string[], daemon: string])[] = [
  ['agent_control', ['-l'], 'svc-db'],
  ['agent_control', ['-R', '-a'], 'svc-db'],
  ['manage_agents', ['-a', 'any', '-n', 'web'], 'svc-authd'],
  ['manage_agents', ['-r', '001'], 'svc-authd'],
  ['agent_groups', ['-l'], 'svc-db'],
  ['svc-send', ['--timeout', '1', 'script'], 'svc-analysisd'],
  ['svc-logtest', [], 'svc-analysisd'],
  ['svc-control', ['reload'], 'svc-apid'],
  ['svc-control', ['stats'], 'svc-apid'],
];

describe('programs that need a daemon', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  const run = (name: string, args: readonly string[]) =>
    new TestProgram(program(name), [...args, '--home', home.root]).ended;
  const start = () => `${program('svc-control')} start`;

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('queue/sockets'));
    writeFileSync(home.path('etc/manager.conf'), '<manager_config></manager_config>');
  });
  afterEach(() => {
    home.remove();
  });

  it('say that the manager does not run, and what starts it', async () => {
    for (const [name, args] of TOOLS) {
      const { code, stdout, stderr } = await run(name, args);
      const what = [name, ...args].join(' ');
      expect(stdout + stderr, what).to.contain(
        `The manager does not run; start it with: ${start()} --home ${home.root}`,
      );
      expect(stderr + stdout, what).to.not.contain('.sock');
      expect(code, what).to.equal(1);
    }
  });

  it('name the daemon that does not run while others do', async () => {
    const lock = ProcessLock.acquire(new RunFiles(home, 'svc-monitord').lock());
    for (const [name, args, daemon] of TOOLS.filter(([name]) => name !== 'svc-control')) {
      const { code, stdout, stderr } = await run(name, args);
      const what = [name, ...args].join(' ');
      expect(stdout + stderr, what).to.contain(
        `${daemon} does not run, while others do; start it with: ${start()} ${daemon} --home ${home.root}`,
      );
      expect(code, what).to.equal(1);
    }
    lock.release();
  });

  it('tell a daemon that starts, failed to, or does not answer', () => {
    const files = new RunFiles(home, 'svc-db');
    const other = ProcessLock.acquire(new RunFiles(home, 'svc-monitord').lock());
    writeFileSync(files.failedMarker(), "'queue/db' is damaged\n");
    expect(whyUnavailable(home, 'svc-db', 'gone')).to.match(
      /^svc-db did not start: 'queue\/db' is damaged \(mend this/,
    );
    const lock = ProcessLock.acquire(files.lock());
    expect(whyUnavailable(home, 'svc-db', 'gone')).to.equal('svc-db is starting: try again in a moment');
    const record = { daemon: 'svc-db', ...ownIdentity(), startedAt: Date.now(), version: '1', addresses: {} };
    writeFileSync(files.record(), JSON.stringify(record));
    expect(whyUnavailable(home, 'svc-db', 'gone')).to.equal('svc-db runs and does not answer: gone');
    for (const held of [lock, other]) held.release();
  });

  it('say of an agent that the agent does not run', async () => {
    writeFileSync(home.path('etc/home.json'), JSON.stringify({ version: 1, role: 'agent' }));
    const { code, stderr } = await run('svc-send', ['script']);
    expect(stderr).to.contain('svc-send: The agent does not run; start it with: ');
    expect(code).to.equal(1);
  });

  it('say what is no home', async () => {
    for (const [name, args] of [...TOOLS, ['svc-fim', ['scan', '--config']], ['svc-fim', ['rootcheck']]] as const) {
      const { code, stdout, stderr } = await new TestProgram(program(name), [...args, '--home', '/nonexistent']).ended;
      expect(stdout + stderr, name).to.contain("'/nonexistent' is not a home (make one with: ");
      expect(stderr, name).to.not.contain('    at ');
      expect(code, name).to.be.greaterThan(0);
    }
  });
});
