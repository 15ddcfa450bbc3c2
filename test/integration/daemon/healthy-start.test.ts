import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { watchLittle } from '../../support/watch-little.js';

const program = (name: string): string => join(fileURLToPath(productRoot()), 'bin', name);
/** Whoever sets no password of enrolment is told so. */
const NO_PASSWORD = 'svc-authd: WARNING: Whoever reaches port ';
const SENDERS = 'svc-remoted,svc-authd,svc-monitord,svc-logcollector,svc-syscheckd,svc-apid';
/** So late that those who wait for it would have said so. */
const SLOW = `svc-db+10,svc-analysisd,${SENDERS}`;

describe('a healthy start', function () {
  this.timeout(120_000);
  const parent = mkdtempSync(join(tmpdir(), 'svc-healthy-'));
  const manager = new Home(join(parent, 'm'));
  const agent = new Home(join(parent, 'a'));
  const control = (daemons: string, ...args: string[]) =>
    new TestProgram('product-control.js', [daemons, ...args]).ended;
  const log = (home: Home) => readFileSync(home.path('logs', 'manager.log'), 'utf8');
  const complaints = (home: Home) =>
    log(home)
      .split('\n')
      .filter((line) => /: (WARNING|ERROR|CRITICAL): /.test(line) && !line.includes(NO_PASSWORD));
  const port = (daemon: DaemonName, listener: string) =>
    readRunRecord(new RunFiles(manager, daemon).record())?.addresses[listener]?.port ?? 0;

  after(async () => {
    await control(SLOW, 'stop', '--home', manager.root);
    await new TestProgram(program('svc-control'), ['stop', '--home', agent.root]).ended;
    removeTree(parent);
  });

  it('of a manager logs no warning and no error, though svc-db comes late', async () => {
    await initHome(manager, { role: 'server' });
    watchLittle(manager);
    const configuration = manager.path('etc', 'manager.conf');
    writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/<port>151[45]</g, '<port>0<'));
    writeFileSync(manager.path('api', 'configuration', 'api.yaml'), "host: ['127.0.0.1']\nport: 0\n");
    const { code, stderr } = await control(SLOW, 'start', '--home', manager.root);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(complaints(manager)).to.deep.equal([]);
  });

  it('of an enrolled agent logs none either, here and there', async () => {
    await initHome(agent, { role: 'agent' });
    watchLittle(agent);
    const configuration = agent.path('etc', 'manager.conf');
    const text = readFileSync(configuration, 'utf8');
    writeFileSync(configuration, text.replace('<port>1514<', `<port>${port('svc-remoted', 'agents_tcp')}<`));
    const enrolment = ['-m', '127.0.0.1', '-p', String(port('svc-authd', 'enrollment')), '-A', 'web01'];
    const enrolled = await new TestProgram(program('agent-auth'), [...enrolment, '--home', agent.root]).ended;
    expect([enrolled.code, enrolled.stderr]).to.deep.equal([0, '']);
    const { code, stderr } = await new TestProgram(program('svc-control'), ['start', '--home', agent.root]).ended;
    expect([code, stderr]).to.deep.equal([0, '']);
    await eventually('the connection', () => log(agent).includes('(4102): Connected to the server'), 30_000);
    await eventually(
      'its configuration',
      () => log(agent).includes('svc-logcollector: INFO: Configuration reloaded.'),
      30_000,
    );
    expect([complaints(agent), complaints(manager)]).to.deep.equal([[], []]);
  });
});
