import { randomBytes } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { BusError } from '../../../lib/bus/bus-error.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { modulesdContract, type ShownTask, type WantedPackage } from '../../../lib/bus/contracts/modulesd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { UpgradingAgent } from '../../support/modulesd/upgrading-agent.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const PROGRAM = fileURLToPath(new URL('bin/agent_upgrade', productRoot()));
const RELEASE: WantedPackage = { kind: 'release', force: false };
const PACKAGE_NAME = 'wazuh_agent_v4.14.7_linux_amd64.deb.wpk';
/** Some fifty pieces. */
const PACKAGE = randomBytes(50 * 4096 + 17);
const SECTIONS = `<agent-upgrade><chunk_size>4096</chunk_size></agent-upgrade>
  <task-manager><task_timeout>60s</task_timeout></task-manager>`;

describe('svc-modulesd, from a package on the manager to an agent that tells that it has it', function () {
  this.timeout(120_000);
  let home: RemotedHome;
  let sink: KeepingSink;
  let agent: UpgradingAgent;
  let db: RequestClient<typeof dbContract>;
  let modulesd: RequestClient<typeof modulesdContract>;
  const daemons = new Map<DaemonName, RunningDaemon>();

  const start = async (name: DaemonName): Promise<void> => {
    daemons.set(name, await RunningDaemon.start(name, home));
  };
  const kill = async (name: DaemonName, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    await daemons.get(name)?.stop(signal);
  };
  const create = (wanted: WantedPackage = RELEASE, ...agents: string[]) =>
    modulesd.call('upgrades.create', { agents: agents.length === 0 ? ['001'] : agents, package: wanted });
  const task = async (id = 1): Promise<ShownTask> => {
    const { tasks } = await modulesd.call('tasks.list', { tasks: [id] });
    return tasks[0]!;
  };
  const becomes = (status: string, id = 1) =>
    eventually(`task ${id} is ${status}`, async () => {
      const found = await task(id);
      return found.status === status ? found : undefined;
    });

  /** An agent of a version that is connected and active. */
  async function connect(version: string): Promise<void> {
    agent = new UpgradingAgent(identity(1));
    await agent.connect(daemons.get('svc-remoted')!.port('agents_tcp'));
    await agent.start(version.replace(/^\S+ /, ''));
    agent.keepalive([], version);
    await eventually('the agent is active', async () => {
      const { items } = await db.call('agents.get', { ids: ['001'], select: ['status', 'version'] });
      return items[0]?.['status'] === 'active' && items[0]['version'] === version;
    });
  }

  beforeEach(async () => {
    home = new RemotedHome({
      remote: '<protocol>tcp</protocol>',
      sections: SECTIONS,
      options: 'remoted.response_timeout=2\n',
    });
    home.keys(identity(1));
    mkdirSync(home.path('var', 'upgrade'));
    writeFileSync(home.path('var', 'upgrade', PACKAGE_NAME), PACKAGE);
    sink = new KeepingSink(home);
    await sink.start();
    for (const name of ['svc-db', 'svc-remoted', 'svc-modulesd'] as const) await start(name);
    db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    modulesd = new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') });
    await db.call('agents.register', { id: '001', name: 'box001', dateAdd: 1 });
  });
  afterEach(async () => {
    agent.close();
    db.close();
    modulesd.close();
    for (const daemon of daemons.values()) await daemon.stop('SIGKILL');
    daemons.clear();
    await sink.stop();
    home.remove();
  });

  it('sends the package, compares its sum, has it installed, and hears how it went', async () => {
    await connect('Wazuh v4.13.0');
    expect(await create()).to.deep.equal({ tasks: [{ agent: '001', id: 1 }], failed: [] });
    await eventually('it installs', () => agent.installed.length > 0);
    expect(agent.installed).to.deep.equal([`${PACKAGE_NAME} upgrade.sh`]);
    expect(agent.packages.get(PACKAGE_NAME)?.equals(PACKAGE)).to.equal(true);
    expect(agent.steps).to.deep.equal(['lock_restart', 'open', 'write', 'close', 'sha1', 'upgrade']);
    expect(agent.pieces).to.equal(51);
    expect(await task()).to.deep.include({ status: 'In progress', command: 'upgrade', node: 'node01', error: '' });
    expect((await create()).failed).to.deep.include({
      ...{ agent: '001', code: 1820, message: 'The agent is being upgraded already' },
    });

    agent.tell(0, 'Upgrade was successful');
    const done = await becomes('Done');
    expect(done).to.deep.include({ id: 1, agent: '001', module: 'upgrade_module', error: '' });
    await eventually('it need not tell it again', () => agent.steps.at(-1) === 'clear_upgrade_result');
    expect(sink.texts('001').filter((text) => text.includes('upgrade'))).to.deep.equal([]);
    const last = await modulesd.call('upgrades.last', { agents: ['001', '002'] });
    expect(last.tasks).to.deep.equal([done]);
    expect(last.without).to.deep.equal(['002']);
  });

  it('is told of by agent_upgrade', async () => {
    await connect('Wazuh v4.13.0');
    const program = new TestProgram(PROGRAM, ['-a', '001', '--home', home.root]);
    await eventually('it installs', () => agent.installed.length > 0);
    // Up again, with its new version.
    agent.keepalive([], 'Wazuh v4.14.7');
    agent.tell(0, 'Upgrade was successful');
    expect(await program.ended).to.deep.include({
      ...{ code: 0, stderr: '' },
      stdout: '\nUpgrading...\n\nUpgraded agents:\n\tAgent 001 upgraded: v4.13.0 -> v4.14.7\n',
    });
  });

  it('speaks with agents before 4.1 in their words', async () => {
    writeFileSync(home.path('var', 'upgrade', 'own.wpk'), PACKAGE);
    await connect('Wazuh v3.13.3');
    await create({ kind: 'file', path: 'own.wpk', installer: 'own.sh' });
    const legacy = await becomes('Legacy');
    expect(legacy.command).to.equal('upgrade_custom');
    expect(agent.installed).to.deep.equal(['own.wpk own.sh']);
    expect(agent.packages.get('own.wpk')?.equals(PACKAGE)).to.equal(true);
  });

  it('goes on after it was killed: a package is sent anew, and an agent is told to install once', async () => {
    await connect('Wazuh v4.13.0');
    let killed: Promise<void> | undefined;
    agent.onStep = () => {
      if (agent.pieces === 20) killed ??= kill('svc-modulesd');
    };
    await create();
    await eventually('it was killed', () => killed !== undefined);
    await killed;
    expect(agent.installed).to.deep.equal([]);
    await start('svc-modulesd');
    await eventually('it installs', () => agent.installed.length > 0);
    expect(agent.steps.join(' ')).to.equal('lock_restart open write lock_restart open write close sha1 upgrade');
    expect(agent.packages.get(PACKAGE_NAME)?.equals(PACKAGE)).to.equal(true);

    // Killed while the agent installs, and down when the agent tells of it: the agent tells it again.
    await kill('svc-modulesd');
    agent.tell(0, 'told to nobody');
    await start('svc-modulesd');
    expect((await task()).status).to.equal('In progress');
    agent.tell(2, 'Upgrade failed');
    expect(await becomes('Failed')).to.deep.include({ error: 'Upgrade failed' });
    expect(agent.installed).to.have.length(1);

    // All is still known after an orderly stop.
    await kill('svc-modulesd', 'SIGTERM');
    await start('svc-modulesd');
    expect(await task()).to.deep.include({ status: 'Failed', error: 'Upgrade failed' });
    expect((await create()).tasks).to.deep.equal([{ agent: '001', id: 2 }]);
  });

  it('goes on when the connection of the agent broke off', async () => {
    await connect('Wazuh v4.13.0');
    const first = agent;
    first.onStep = () => {
      if (first.pieces === 20) first.close();
    };
    await create();
    await becomes('Pending');
    await connect('Wazuh v4.13.0');
    await eventually('it installs', () => agent.installed.length > 0);
    expect(agent.packages.get(PACKAGE_NAME)?.equals(PACKAGE)).to.equal(true);
  });

  it('tells what an agent refuses, and what it did not get right', async () => {
    await connect('Wazuh v4.13.0');
    agent.refused.set('write', 'No space left on device');
    await create();
    expect((await becomes('Failed')).error).to.equal('the agent could not write the package: No space left on device');
    agent.refused.clear();
    agent.exitCode = '3';
    await create();
    expect((await becomes('Failed', 2)).error).to.equal('the installer of the package ended with code 3');
    agent.refused.set('upgrade', 'Could not verify signature');
    await create();
    expect((await becomes('Failed', 3)).error).to.equal(
      'the agent would not install the package: Could not verify signature',
    );
  });

  it('refuses what cannot be upgraded, with the codes of the API', async () => {
    await connect('Wazuh v4.14.7');
    const refusal = async (wanted: WantedPackage, ...agents: string[]) => (await create(wanted, ...agents)).failed;
    expect(await refusal(RELEASE)).to.have.nested.property('[0].code', 1822);
    expect(await refusal(RELEASE, '000', '777')).to.deep.equal([
      { agent: '000', code: 1817, message: 'Action not available for Manager (agent 000)' },
      { agent: '777', code: 1816, message: 'The agent is not known' },
    ]);
    expect(await refusal({ kind: 'release', force: true, version: 'v4.14.5' })).to.deep.equal([
      {
        agent: '001',
        code: 1825,
        message:
          'There is no package of this version: put wazuh_agent_v4.14.5_linux_amd64.deb.wpk into var/upgrade of the manager',
      },
    ]);
    const failure = (wanted: WantedPackage) =>
      create(wanted).then(
        () => 'none',
        ({ code, message }: BusError) => `${code}: ${message}`,
      );
    expect(await failure({ kind: 'release', force: false, version: 'v4.15.0' })).to.match(/^version_too_high: /);
    expect(await failure({ kind: 'file', path: 'none.wpk' })).to.equal('no_package: there is no var/upgrade/none.wpk');
    symlinkSync('/etc/passwd', home.path('var', 'upgrade', 'link.wpk'));
    expect(await failure({ kind: 'file', path: 'link.wpk' })).to.match(/^no_package: .*a link/);
    expect(await failure({ kind: 'file', path: '../../etc/manager.conf' })).to.match(/^no_package: .*is elsewhere$/);
    expect((await modulesd.call('tasks.list', {})).tasks).to.deep.equal([]);
  });
});
