import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { agentUpgradeCommand } from '../../../bin/agent-tools/agent-upgrade-command.js';
import type { TaskRecord } from '../../../daemons/modulesd/tasks/task-record.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';
import { ModulesdServer } from '../../support/modulesd/modulesd-server.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const NOW = 1_795_000_000_000;

describe('agent_upgrade', () => {
  let home: TemporaryHome;
  let db: DbServer;
  let modulesd: ModulesdServer | undefined;

  const agent = async (id: number, version: string) =>
    db.registry.edit((edit) => {
      edit.setAgent(id, {
        ...{ name: `box${String(id)}`, registerIP: 'any', dateAdd: 1, groups: ['default'], nodeName: 'node01' },
        ...{ status: 'active', statusCode: 0, disconnectionTime: 0, os: { platform: 'windows' } },
        version,
      });
    });

  beforeEach(async () => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/manager.conf'), '<manager_config/>');
    db = await DbServer.start(home, () => NOW);
    modulesd = await ModulesdServer.start(home, () => NOW);
    writeFileSync(home.path('var/upgrade/wazuh_agent_v4.14.7_windows.wpk'), 'a package');
    await agent(1, 'Wazuh v4.13.0');
    await agent(2, 'Wazuh v4.14.7');
    await agent(3, 'Wazuh v4.12.0');
  });
  afterEach(async () => {
    await modulesd?.stop();
    await db.stop();
    home.remove();
  });

  async function run(...args: string[]) {
    const said = { out: '', err: '' };
    const code = await agentUpgradeCommand(['--home', home.root, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    return { code, ...said };
  }
  /** What becomes of a task as soon as it is there. */
  async function ends(id: number, change: Partial<TaskRecord>, version?: string): Promise<void> {
    const task = await eventually(`task ${String(id)}`, () => modulesd?.tasks.get(id));
    if (version !== undefined) await agent(Number(task.agent), version);
    await modulesd?.tasks.change(id, change);
  }

  it('lists outdated agents', async () => {
    expect(await run('-l')).to.deep.equal({
      code: 0,
      out:
        'ID    Name                                Version\n' +
        '001   box1                                Wazuh v4.13.0\n' +
        '003   box3                                Wazuh v4.12.0\n' +
        '\nTotal outdated agents: 2\n',
      err: '',
    });
    await agent(1, 'Wazuh v4.14.7');
    await agent(3, 'Wazuh v4.14.7');
    expect(await run('--list-outdated')).to.deep.equal({ code: 0, out: 'All agents are updated.\n', err: '' });
  });

  it('upgrades agents and tells how it went', async () => {
    const [result] = await Promise.all([
      run('-a', '1', '002,003'),
      ends(1, { status: 'Done' }, 'Wazuh v4.14.7'),
      ends(2, { status: 'Failed', error: 'no\u001bspace' }),
    ]);
    expect(result).to.deep.equal({
      code: 1,
      out:
        '\nUpgrading...\n' +
        '\nUpgraded agents:\n\tAgent 001 upgraded: v4.13.0 -> v4.14.7\n' +
        '\nFailed upgrades:\n\tAgent 002 status: The agent has this version already, or a higher one\n' +
        '\tAgent 003 status: no?space\n',
      err: '',
    });
  });

  it('takes all agents, and a package of their own, and can be silent', async () => {
    writeFileSync(home.path('var/upgrade/own.wpk'), 'a package');
    const file = join(home.root, 'var/upgrade/own.wpk');
    const [result] = await Promise.all([
      run('-s', '-a', 'all', '-f', file, '-x', 'own.bat'),
      ...[1, 2, 3].map((id) => ends(id, { status: 'Done' }, 'Wazuh v4.14.8')),
    ]);
    expect(result).to.deep.equal({ code: 0, out: '', err: '' });
    expect(modulesd?.tasks.get(2)).to.deep.include({ agent: '002', command: 'upgrade_custom' });
    expect(modulesd?.tasks.get(2)?.work).to.deep.include({ path: 'own.wpk', installer: 'own.bat' });
  });

  it('says what cannot be done', async () => {
    const refusal = async (...args: string[]) => {
      const { code, out, err } = await run(...args);
      expect([code, out], err).to.deep.equal([1, '']);
      return err;
    };
    expect(await refusal('-a', 'x1')).to.equal("agent_upgrade: 'x1' is no id of an agent\n");
    expect(await refusal('-a', '1', '-v', '4.15')).to.equal("agent_upgrade: '4.15' is no version: v4.14.0, say\n");
    expect(await refusal('-a', '1', '-x', 'own.sh')).to.match(/^agent_upgrade: -x needs a package of your own: -f\n$/);
    expect(await refusal('-a', '1', '-f', 'x.wpk', '-v', '4.14.0')).to.match(/^agent_upgrade: -f names the package: /);
    expect(await refusal('-a', '1', '-f', '/etc/passwd')).to.match(
      /^agent_upgrade: packages are taken from var\/upgrade/,
    );
    expect(await refusal('-a', '1', '-f', 'none.wpk')).to.equal('agent_upgrade: there is no var/upgrade/none.wpk\n');
    expect(await refusal('-a', '1', '-v', 'v4.15.0')).to.match(/^agent_upgrade: A version above the manager's needs/);
    expect((await run('-a', '2', '-r', 'example.com')).err).to.equal(
      'agent_upgrade: packages are taken from var/upgrade: no repository is asked\n',
    );
    expect((await run()).out).to.match(/^Usage: agent_upgrade /);
    await modulesd?.stop();
    modulesd = undefined;
    expect(await refusal('-a', '1')).to.match(/^agent_upgrade: The manager does not run/);
  });
});
