import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { agentControlCommand } from '../../../bin/agent-tools/agent-control-command.js';
import { commonHandlers } from '../../../lib/bus/contracts/common.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { execdContract } from '../../../lib/bus/contracts/execd.js';
import { syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const RESPONSES = `
<command><name>refar</name><executable>refar.sh</executable><timeout_allowed>yes</timeout_allowed></command>
<active-response><command>refar</command><location>local</location><level>5</level><timeout>15</timeout></active-response>`;

describe('agent_control', function () {
  this.timeout(60_000);
  const home = new RemotedHome({ sections: RESPONSES });
  const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const agents: MinimalAgent[] = [];
  let db: RunningDaemon | undefined;
  let remoted: RunningDaemon | undefined;

  before(async () => {
    mkdirSync(home.path('queue/db'));
    home.keys(...[1, 2, 3].map((number) => identity(number)));
    db = await RunningDaemon.start('svc-db', home);
    for (const { id, name } of [1, 2, 3].map((number) => identity(number))) {
      await client.call('agents.register', { id, name, dateAdd: 1_700_000_000 });
    }
    remoted = await RunningDaemon.start('svc-remoted', home);
    for (const [number, version] of [
      [1, 'Wazuh v4.14.7'],
      [2, 'OSSEC HIDS v3.7.0'],
    ] as const) {
      const agent = new MinimalAgent(identity(number));
      agents.push(agent);
      await agent.connect(remoted.port('agents_tcp'));
      await agent.start();
      agent.keepalive([], version);
    }
    await eventually('both are active', async () => (await client.call('agents.summary', {})).connection.active === 2);
  });
  after(async () => {
    for (const agent of agents) agent.close();
    client.close();
    await remoted?.stop('SIGKILL');
    await db?.stop('SIGKILL');
    home.remove();
  });

  async function runAt(root: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const said = { out: '', err: '' };
    const code = await agentControlCommand(['--home', root, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    return { code, ...said };
  }
  const run = (...args: string[]) => runAt(home.root, ...args);
  const parsed = async (...args: string[]) => JSON.parse((await run('-j', ...args)).out) as unknown;

  it('lists all agents, those that are active, and those that are not', async () => {
    const { code, out } = await run('-l');
    expect(code).to.equal(0);
    expect(out).to.match(
      /^\nSecurity Manager agent_control\. List of available agents:\n {3}ID: 000, Name: \S+ \(server\), IP: 127\.0\.0\.1, Active\/Local\n/,
    );
    expect(out.split('\n').slice(3)).to.deep.equal([
      '   ID: 001, Name: box001, IP: any, Active',
      '   ID: 002, Name: box002, IP: any, Active',
      '   ID: 003, Name: box003, IP: any, Never connected',
      '',
      '',
    ]);
    expect((await run('-lc', '-s')).out).to.match(/^000,\S+ \(server\),[^\n]*\n001,box001,any,Active,\n002,[^\n]*\n$/);
    const { data } = (await parsed('-ln')) as { data: Record<string, string>[] };
    expect(Object.keys(data[0] ?? {})).to.deep.equal(['id', 'name', 'ip', 'status']);
    expect(data.slice(1)).to.deep.equal([{ id: '003', name: 'box003', ip: 'any', status: 'Never connected' }]);
  });

  it('shows what is known of an agent', async () => {
    const { out } = await run('-i', '001');
    const shown = out.replace(/keep alive: {5}\d{10}\n/, 'keep alive:     NOW\n');
    expect(shown).to.equal(`
Security Manager agent_control. Agent information:
   Agent ID:   001
   Agent Name: box001
   IP address: any
   Status:     Active

   Operating system:    Linux |box |6.1.0 |#1 SMP |x86_64
   Client version:      Wazuh v4.14.7
   Configuration hash:  Unknown
   Shared file hash:    x
   Last keep alive:     NOW

   Syscheck last started at:  Unknown
   Syscheck last ended at:    Unknown

`);
    expect(await parsed('-i', '3')).to.deep.include({ error: 0 });
    expect((await run('-s', '-i', '003')).out).to.equal(`003,box003,any,Never connected${',Unknown'.repeat(5)},\n`);
    expect(await parsed('-i', '9')).to.deep.equal({ error: 40, message: "Invalid agent id '9'." });
    expect((await run('-i', 'web01')).err).to.equal("** Invalid agent id 'web01'.\n");
  });

  it('tells agents to restart and to scan, each in the form it knows', async () => {
    const [first, second] = agents as [MinimalAgent, MinimalAgent];
    expect((await run('-R', '-u', '001')).out).to.equal('\nSecurity Manager agent_control. Restarting agent: 001\n');
    const order =
      'execd {"version":1,"origin":{"name":"","module":""},"command":"restart-wazuh0","parameters":{"extra_args":[],"alert":{"data":{"srcip":"null"}}}}';
    await first.until('the order', () => first.received.includes(order));
    expect((await run('-R', '-a')).out).to.include('Restarting agent: (all)\nSent to 2 active agents.\n');
    await second.until('the order', () =>
      second.received.includes('execd restart-ossec0 - null (from_the_server) (no_rule_id)'),
    );
    expect((await run('-r', '-u', '2')).out).to.include('Restarting Syscheck/Rootcheck on agent: 2\n');
    await second.until('the order', () => second.received.includes('syscheck restart'));
    expect(first.received).not.to.include('syscheck restart');
    expect(await parsed('-r', '-a')).to.deep.equal({
      error: 0,
      data: 'Restarting Syscheck/Rootcheck on all agents.',
    });
    await first.until('the order', () => first.received.includes('syscheck restart'));

    const error = async (...args: string[]) => ((await parsed(...args)) as { error: number }).error;
    expect(await error('-R', '-u', '003'), 'never connected').to.equal(44);
    expect(await error('-r', '-u', '003')).to.equal(42);
    expect(await error('-R', '-u', '004')).to.equal(40);
    expect(await error('-R', '-u', '000')).to.equal(44);
    expect(await error('-r', '-u', '0'), 'svc-syscheckd does not run').to.equal(41);
    expect(await error('-R')).to.equal(45);
  });

  it('has agents run a response against an address', async () => {
    const [first, second] = agents as [MinimalAgent, MinimalAgent];
    expect(await run('-b', '192.0.2.9', '-f', 'refar15', '-u', '001')).to.deep.include({
      code: 0,
      out: "\nSecurity Manager agent_control. Running active response 'refar15' on: 001\n",
    });
    const message =
      '{"version":1,"origin":{"name":"","module":""},"command":"refar15","parameters":{"extra_args":[],"alert":{"data":{"srcip":"192.0.2.9"}}}}';
    await first.until('the order', () => first.received.includes(`execd ${message}`));
    expect((await run('-b', '2001:db8::9', '-f', '!block.sh', '-a')).out).to.include(
      "Running active response '!block.sh' on: all\nSent to 2 active agents.\n",
    );
    await second.until('the order', () =>
      second.received.includes('execd !block.sh - 2001:db8::9 (from_the_server) (no_rule_id)'),
    );

    const refusal = async (...args: string[]) => (await parsed(...args)) as { error: number; message: string };
    expect(await refusal('-b', 'web01', '-f', 'refar15', '-a')).to.deep.equal({
      error: 47,
      message: "Invalid address 'web01'.",
    });
    expect((await refusal('-b', '192.0.2.9', '-f', 'refar', '-a')).message).to.contain("response 'refar'");
    expect((await refusal('-b', '192.0.2.9', '-f', '!../x', '-a')).error).to.equal(47);
    expect((await refusal('-b', '192.0.2.9', '-f', 'refar15', '-u', '003')).error, 'never connected').to.equal(47);
    expect((await refusal('-b', '192.0.2.9', '-f', 'refar15')).error, 'of no agent').to.equal(45);
    expect((await run('-b', '192.0.2.9', '-a')).err).to.contain('Invalid argument combination');
    expect((await refusal('-b', '192.0.2.9', '-f', 'refar15', '-u', '000')).error, 'no svc-execd').to.equal(46);
    const messages: string[] = [];
    const execd = await serveContract(home, execdContract, {
      'responses.run': (params: { message: string }) => {
        messages.push(params.message);
        return {};
      },
    });
    expect((await run('-b', '192.0.2.9', '-f', 'refar15', '-u', '000')).code).to.equal(0);
    await execd.stop();
    expect(messages).to.deep.equal([message]);
  });

  it('says when scans began and ended', async () => {
    const mark = (type: string, timestamp: number) => Buffer.from(JSON.stringify({ type, data: { timestamp } }));
    const apply = async (position: number, message: Buffer) => {
      const operation = { position, agent: '002', kind: 'syscheck' as const, at: Date.now(), message };
      await client.call('fim.apply', { journal: 'j', operations: [operation], upTo: position + 1 });
    };
    const times = async () => {
      const { data } = (await parsed('-i', '2')) as { data: Record<string, string> };
      return [data['syscheckTime'], data['syscheckEndTime']];
    };
    const at = (seconds: number) =>
      new Date(seconds * 1000).toString().replace(/^(\w+ \w+ \d+) (\d+) (\S+) .*/, '$1 $3 $2');
    await apply(1, mark('scan_start', 1_732_000_000));
    expect(await times()).to.deep.equal([at(1_732_000_000), 'Unknown']);
    await apply(2, mark('scan_end', 1_732_000_060));
    expect(await times()).to.deep.equal([at(1_732_000_000), at(1_732_000_060)]);
  });

  it('has the manager itself scan', async () => {
    const orders: string[] = [];
    const server = new RequestServer<typeof syscheckdContract>({
      contract: syscheckdContract,
      path: home.socket('svc-syscheckd'),
      logger: new RecordingLogger(),
      handlers: {
        ...commonHandlers('svc-syscheckd', {
          stats: () => ({}),
          sections: new Map(),
          reload: () => Promise.resolve([]),
        }),
        order: ({ text }) => {
          orders.push(text);
          return {};
        },
        'scan.status': () => {
          throw new Error('is not asked for');
        },
      },
    });
    await server.start();
    try {
      expect((await run('-r', '-u', '0')).out).to.include('Restarting Syscheck/Rootcheck on agent: 0\n');
      expect(orders).to.deep.equal(['syscheck restart']);
    } finally {
      await server.stop();
    }
  });

  it('lists the active responses of the configuration', async () => {
    expect((await run('-L')).out).to.contain('   Response name: refar15, command: refar.sh\n');
  });

  it('refuses what does not belong together, other homes, and daemons that are away', async () => {
    for (const args of [[], ['-l', '-i', '001'], ['-l', '-cn'], ['-c'], ['-l', '-a'], ['-R', '-a', '-u', '001']]) {
      const { code, err } = await run(...args);
      expect(code, args.join(' ')).to.equal(1);
      expect(err, args.join(' ')).to.contain('** Invalid argument combination.');
    }
    const others = [new TemporaryHome({ version: 1, role: 'agent' }), new RemotedHome()] as const;
    const [agent, empty] = others;
    try {
      expect((await runAt(agent.root, '-l')).err).to.match(/^agent_control: this is done on a manager/);
      expect((await runAt(empty.root, '-L')).out).to.contain('   No active response available.\n');
      expect((await runAt(empty.root, '-l')).err).to.match(/^\*\* The manager does not run; start it with: /);
      expect(JSON.parse((await runAt(empty.root, '-j', '-i', '001')).out)).to.include({ error: 46 });
    } finally {
      for (const other of others) other.remove();
    }
    await remoted?.stop('SIGKILL');
    expect(await parsed('-R', '-u', '001')).to.include({ error: 43 });
    expect(await parsed('-r', '-a')).to.include({ error: 41 });
  });
});
