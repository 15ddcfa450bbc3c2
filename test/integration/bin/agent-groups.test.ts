import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { agentGroupsCommand } from '../../../bin/agent-tools/agent-groups-command.js';
import { confCheck } from '../../../daemons/remoted/merge/conf-check.js';
import { SharedFiles } from '../../../daemons/remoted/merge/shared-files.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/agent_groups', productRoot()));
const NOW = 1_795_000_000_000;
const TEMPLATE = '<agent_config>\n  <!-- ours -->\n</agent_config>\n';
const TRY_HELP = "Try '--help' for more information.\n\n";

describe('agent_groups', () => {
  let home: TemporaryHome;
  let db: DbServer;
  let client: RequestClient<typeof dbContract>;

  beforeEach(async () => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/manager.conf'), '<manager_config/>');
    mkdirSync(home.path('etc/shared/default'), { recursive: true });
    mkdirSync(home.path('etc/shared/web'));
    writeFileSync(home.path('etc/shared/agent-template.conf'), TEMPLATE);
    db = await DbServer.start(home, () => NOW);
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    await client.call('groups.create', { name: 'web' });
    for (const [id, groups] of [
      ['001', ['default', 'web']],
      ['002', ['default']],
      ['003', []],
    ] as const) {
      await client.call('agents.register', { id, name: `box${id}`, dateAdd: 1_700_000_000, groups: [...groups] });
    }
  });
  afterEach(async () => {
    client.close();
    await db.stop();
    home.remove();
  });

  async function runAt(root: string, typed: string, ...args: string[]) {
    const said = { out: '', err: '' };
    const code = await agentGroupsCommand(['--home', root, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
      input: Readable.from(typed === '' ? [] : [Buffer.from(typed)]),
    });
    return { code, ...said };
  }
  const run = (...args: string[]) => runAt(home.root, '', ...args);
  /** What is said when it is done. */
  const out = async (...args: string[]) => {
    const result = await run(...args);
    expect(result, result.out).to.include({ code: 0, err: '' });
    return result.out;
  };
  /** What is said when it is not done. */
  const refusal = async (...args: string[]) => {
    const result = await run(...args);
    expect(result, result.out).to.include({ code: 1, err: '' });
    return result.out;
  };
  const groupsOf = async (id: string) => ((await client.call('agents.get', { ids: [id] })).items[0] ?? {})['group'];

  it('lists groups, their agents and the groups of an agent', async () => {
    const groups = 'Groups (2):\n  default (2)\n  web (1)\nUnassigned agents: 1.\n';
    for (const args of [[], ['-l'], ['--list']]) expect(await out(...args)).to.equal(groups);
    const members = "2 agent(s) in group 'default':\n  ID: 001  Name: box001.\n  ID: 002  Name: box002.\n";
    expect(await out('-l', '-g', 'default')).to.equal(members);
    await client.call('groups.create', { name: 'empty' });
    expect(await out('--list', '--group', 'empty')).to.equal("No agents found in group 'empty'.\n");
    expect(await refusal('-l', '-g', 'nowhere')).to.equal('Error 1710: The group does not exist\n');
    expect(await refusal('-l', '-g', '../x')).to.equal('Error 1710: The group does not exist\n');

    const belongs = "The agent 'box001' with ID '001' belongs to groups: default, web.\n";
    for (const id of ['001', '1']) expect(await out('-s', '-i', id)).to.equal(belongs);
    expect(await out('--show-group', '--agent-id', '003')).to.equal(
      "The agent 'box003' with ID '003' belongs to groups: Null.\n",
    );
    expect(await refusal('-s', '-i', '099')).to.equal('Error 1701: Agent does not exist\n');
    expect(await refusal('-s', '-i', 'web')).to.equal('Error 1701: Agent does not exist\n');
    expect(await refusal('-s', '-i', '0')).to.equal('Error 1703: Action not available for Manager (agent 000)\n');
  });

  it('lists the files of a group with their sums', async () => {
    const md5 = (text: string) => createHash('md5').update(text).digest('hex');
    writeFileSync(home.path('etc/shared/web/agent.conf'), TEMPLATE);
    mkdirSync(home.path('etc/shared/web/policies'));
    writeFileSync(home.path('etc/shared/web/policies/site\x1b[2J.yml'), 'x');
    writeFileSync(home.path('etc/shared/ar.conf'), 'restart0');
    expect(await out('-c', '-g', 'web')).to.equal(
      [
        "3 files for 'web' group:",
        `  agent.conf             [${md5(TEMPLATE)}]`,
        `  policies/site?[2J.yml  [${md5('x')}]`,
        `  ar.conf                [${md5('restart0')}]`,
        '',
      ].join('\n'),
    );
    expect(await refusal('-c', '-g', 'nowhere')).to.equal('Error 1710: The group does not exist\n');
  });

  it('compares the merged file of the groups on the disk with the one of the agent', async () => {
    const content = { one: '#default\n', both: '#5288d400\n' };
    const [one, both] = [content.one, content.both].map((text) => createHash('md5').update(text).digest('hex'));
    const is = (id: string) => `Agent '${id}' is synchronized. \n`;
    const isNot = (id: string) => `Agent '${id}' is not synchronized. \n`;
    expect(await out('-S', '-i', '001')).to.equal(isNot('001'));
    await client.call('agents.keepalives', {
      agents: [
        { id: '001', at: NOW / 1000, changes: { mergedSum: both } },
        { id: '002', at: NOW / 1000, changes: { mergedSum: 'x' } },
      ],
    });
    for (const id of ['001', '002']) expect(await out('-S', '-i', id)).to.equal(is(id));
    writeFileSync(home.path('etc/shared/default/merged.mg'), content.one);
    mkdirSync(home.path('var/multigroups/5288d400'), { recursive: true });
    writeFileSync(home.path('var/multigroups/5288d400/merged.mg'), content.both);
    expect(await out('-S', '-i', '001')).to.equal(is('001'));
    expect(await out('--show-sync', '-i', '2')).to.equal(isNot('002'));
    await client.call('agents.keepalives', { agents: [{ id: '002', at: NOW / 1000, changes: { mergedSum: one } }] });
    expect(await out('-S', '-i', '002')).to.equal(is('002'));
    writeFileSync(home.path('var/multigroups/5288d400/merged.mg'), 'changed');
    expect(await out('-S', '-i', '001')).to.equal(isNot('001'));
    // Without one of its own the list has nothing, until each of its groups has a file.
    removeTree(home.path('var/multigroups/5288d400'));
    expect(await out('-S', '-i', '001')).to.equal(is('001'));
    writeFileSync(home.path('etc/shared/web/merged.mg'), 'web');
    expect(await out('-S', '-i', '001')).to.equal(isNot('001'));
  });

  it('makes and removes groups', async () => {
    expect(await out('-q', '-a', '-g', 'db')).to.equal("Group 'db' created.\n");
    expect(readFileSync(home.path('etc/shared/db/agent.conf'), 'utf8')).to.equal(TEMPLATE);
    expect(statSync(home.path('etc/shared/db')).mode & 0o777).to.equal(0o770);
    expect((await client.call('groups.get', { name: 'db' })).count).to.equal(0);
    expect(await refusal('-q', '-a', '-g', 'db')).to.equal('Error 1711: The group already exists\n');
    expect(await refusal('-q', '-a', '-g', 'default')).to.equal('Error 1711: The group already exists\n');
    for (const name of ['..', 'a/b', 'all', 'x'.repeat(256)]) {
      expect(await refusal('-q', '-a', '-g', name)).to.equal('Error 1722: Incorrect format for group_id\n');
    }
    writeFileSync(home.path('etc/shared/ar.conf'), '');
    expect(await refusal('-q', '-a', '-g', 'ar.conf')).to.match(/^Error 1713: Invalid group ID\./);

    await client.call('agents.membership', { mode: 'append', agents: [{ id: '002', groups: ['db'] }] });
    expect(await out('-q', '-r', '-g', 'db')).to.equal('Group db removed.\n');
    expect(await groupsOf('002')).to.deep.equal(['default']);
    expect(() => statSync(home.path('etc/shared/db'))).to.throw(/ENOENT/);
    expect(await refusal('-q', '-r', '-g', 'db')).to.equal('Error 1710: The group does not exist\n');
    expect(await refusal('-q', '-r', '-g', 'default')).to.equal('Error 1712: Default group is not deletable\n');
  });

  it('finishes what another has begun', async () => {
    // svc-remoted has seen the folder of one group come, and that of another go.
    await client.call('groups.create', { name: 'seen' });
    expect(await out('-q', '-a', '-g', 'seen')).to.equal("Group 'seen' created.\n");
    await client.call('groups.remove', { names: ['seen'] });
    expect(await out('-q', '-r', '-g', 'seen')).to.equal('Group seen removed.\n');
    await client.call('groups.create', { name: 'gone' });
    expect(await out('-q', '-r', '-g', 'gone')).to.equal('Group gone removed.\n');
    expect((await client.call('groups.list', {})).groups.map(({ name }) => name)).to.deep.equal(['default', 'web']);
  });

  it('goes along with svc-remoted, which sees folders come and go', async () => {
    const files = new SharedFiles({
      home,
      logger: new RecordingLogger(),
      db: client,
      reloadMs: 100,
      merge: true,
      mergedElsewhere: () => false,
      check: confCheck(),
    });
    await files.start();
    try {
      for (let round = 0; round < 15; round += 1) {
        for (const args of [
          ['-a', '-g', 'fast'],
          ['-a', '-i', '002', '-g', 'fast'],
        ]) {
          await out('-q', ...args);
        }
        expect(await groupsOf('002')).to.deep.equal(['default', 'fast']);
        await out('-q', '-r', '-g', 'fast');
        expect(await groupsOf('002')).to.deep.equal(['default']);
      }
      await out('-q', '-a', '-g', 'kept');
      await eventually('the group has its merged file', () => files.sumOf(['kept']) !== undefined);
      removeTree(home.path('etc/shared/kept'));
      const known = async () => (await client.call('groups.list', {})).groups.map(({ name }) => name);
      await eventually('a group whose folder was removed is gone', async () => !(await known()).includes('kept'));
      expect(await known()).to.deep.equal(['default', 'web']);
      expect(await refusal('-q', '-r', '-g', 'kept')).to.match(/^Error 1710: /);
    } finally {
      await files.stop();
    }
  }).timeout(60_000);

  it('is not led out of etc/shared', async () => {
    const outside = home.path('outside');
    mkdirSync(outside);
    writeFileSync(home.path('outside/kept'), 'x');
    symlinkSync(outside, home.path('etc/shared/link'));
    expect(await refusal('-c', '-g', 'link')).to.equal('Error 1710: The group does not exist\n');
    expect(await refusal('-q', '-r', '-g', 'link')).to.equal('Error 1710: The group does not exist\n');
    expect(await refusal('-q', '-a', '-g', 'link')).to.match(/^Error 1713: /);
    expect(readFileSync(home.path('outside/kept'), 'utf8')).to.equal('x');
  });

  it('puts agents into groups and takes them out', async () => {
    const added = (id: string, group: string) => `Group '${group}' added to agent '${id}'.\n`;
    expect(await out('-q', '-a', '-i', '002', '-g', 'web')).to.equal(added('002', 'web'));
    expect(await groupsOf('002')).to.deep.equal(['default', 'web']);
    expect(await refusal('-q', '-a', '-i', '2', '-g', 'web')).to.equal('Error 1751: Could not assign agent to group\n');
    expect(await out('-q', '-f', '-a', '-i', '2', '-g', 'web')).to.equal(added('002', 'web'));
    expect(await groupsOf('002')).to.deep.equal(['web']);
    expect(await refusal('-q', '-a', '-i', '002', '-g', 'nowhere')).to.equal('Error 1710: The group does not exist\n');
    expect(await refusal('-q', '-a', '-i', '099', '-g', 'web')).to.equal('Error 1701: Agent does not exist\n');
    expect(await refusal('-q', '-a', '-i', '000', '-g', 'web')).to.match(/^Error 1703: /);

    expect(await out('-q', '-r', '-i', '001', '-g', 'default')).to.equal("Agent '001' removed from default.\n");
    expect(await groupsOf('001')).to.deep.equal(['web']);
    expect(await refusal('-q', '-r', '-i', '001', '-g', 'default')).to.match(/^Error 1734: /);
    expect(await out('-q', '-r', '-i', '001')).to.equal("Agent '001' removed from None.\n");
    expect(await groupsOf('001')).to.deep.equal(['default']);
    expect(await refusal('-q', '-r', '-i', '001')).to.match(/^Error 1745: Agent only belongs to 'default'/);
    expect(await refusal('-q', '-r', '-i', '001', '-g', 'default')).to.match(/^Error 1745: /);

    const many = Array.from({ length: 128 }, (_none, index) => `g${index}`);
    for (const name of many) await client.call('groups.create', { name });
    await client.call('agents.membership', { mode: 'override', agents: [{ id: '002', groups: many }] });
    expect(await refusal('-q', '-a', '-i', '002', '-g', 'web')).to.match(/^Error 1737: /);
  });

  it('asks before it changes anything', async () => {
    const questions: [question: string, done: string, args: string[]][] = [
      ["Do you want to create the group 'new'?", "Group 'new' created.", ['-a', '-g', 'new']],
      [
        "Do you want to add the group 'new' to the agent '002'?",
        "Group 'new' added to agent '002'.",
        ['-a', '-i', '2', '-g', 'new'],
      ],
      [
        "Do you want to delete the group 'default' of agent '002'?",
        "Agent '002' removed from default.",
        ['-r', '-i', '002', '-g', 'default'],
      ],
      ["Do you want to delete all groups of agent '002'?", "Agent '002' removed from None.", ['-r', '-i', '002']],
      ["Do you want to remove the 'new' group?", 'Group new removed.', ['-r', '-g', 'new']],
    ];
    for (const [question, done, args] of questions) {
      const before = [(await client.call('groups.list', {})).groups, await client.call('agents.list', {})];
      for (const typed of ['', '\n', 'n\n', 'yes\ny\n']) {
        expect(await runAt(home.root, typed, ...args)).to.deep.equal({
          code: 0,
          out: `${question} [y/N]: Cancelled.\n`,
          err: '',
        });
      }
      expect([(await client.call('groups.list', {})).groups, await client.call('agents.list', {})]).to.deep.equal(
        before,
      );
      const typed = args.includes('new') ? 'y\n' : 'Y';
      expect(await runAt(home.root, typed, ...args)).to.include({ code: 0, out: `${question} [y/N]: ${done}\n` });
    }
  });

  it('refuses options that do not belong together', async () => {
    const cases: [string, string[]][] = [
      ['Bad argument combination.', ['-l', '-c', '-g', 'web']],
      ['Bad argument combination.', ['-a', '-r', '-g', 'web']],
      ['Bad argument combination.', ['-s', '-S', '-i', '001']],
      ['Missing group.', ['-c']],
      ['Missing group.', ['-a', '-i', '001']],
      ['Missing agent ID.', ['-s']],
      ['Missing agent ID.', ['-S', '-g', 'web']],
      ['Missing agent ID or group.', ['-a', '-q']],
      ['Missing agent ID or group.', ['-r']],
    ];
    for (const [reason, args] of cases) {
      expect(await refusal(...args)).to.equal(`Invalid options: ${reason}\n${TRY_HELP}`);
    }
    for (const wrong of [['-x'], ['-i'], ['-l', 'web']]) {
      const { code, out: said } = await run(...wrong);
      expect([code, said]).to.deep.equal([1, `Invalid options.\n${TRY_HELP}`]);
    }
    expect(await out('-u')).to.match(/^Usage: agent_groups /);
    expect(await out('-h')).to.match(/-S, --show-sync/);
  });

  it('needs the home of a manager, and svc-db', async () => {
    const agent = new TemporaryHome({ version: 1, role: 'agent' });
    try {
      const refused = await runAt(agent.root, '', '-l');
      expect(refused).to.include({ code: 1, out: '' });
      expect(refused.err).to.match(/^agent_groups: this is done on a manager/);
    } finally {
      agent.remove();
    }
    await db.stop();
    for (const args of [['-l'], ['-q', '-a', '-g', 'new'], ['-q', '-r', '-g', 'web'], ['-S', '-i', '001']]) {
      expect(await refusal(...args)).to.match(
        /^Error 1017: Some daemons are not ready yet: The manager does not run; start it with: /,
      );
    }
    // Nothing was begun.
    expect(() => statSync(home.path('etc/shared/new'))).to.throw(/ENOENT/);
    expect(statSync(home.path('etc/shared/web')).isDirectory()).to.equal(true);
    db = await DbServer.start(home, () => NOW);
  });

  it('is a program', async () => {
    const program = new TestProgram(PROGRAM, ['--home', home.root, '-s', '-i', '001']);
    const { code, stdout, stderr } = await program.ended;
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: "The agent 'box001' with ID '001' belongs to groups: default, web.\n",
      stderr: '',
    });
    const asked = await new TestProgram(PROGRAM, ['--home', home.root, '-r', '-g', 'web']).ended;
    expect(asked).to.include({ code: 0, stdout: "Do you want to remove the 'web' group? [y/N]: Cancelled.\n" });
  });
});
