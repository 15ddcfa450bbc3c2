import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { execdContract } from '../../../lib/bus/contracts/execd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { STATEFUL } from '../../support/execd/response-kit.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';

const SECTIONS = `<global><white_list>10.0.0.0/8</white_list><jsonout_output>no</jsonout_output></global>
<command><name>lock</name><executable>lock</executable><extra_args>-q now</extra_args><timeout_allowed>yes</timeout_allowed></command>
<active-response><command>lock</command><location>server</location><rules_id>100201</rules_id><timeout>600</timeout></active-response>
<active-response><command>lock</command><location>local</location><level>7</level><timeout>300</timeout></active-response>`;
const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-1"><parent>door</parent><regex>^(\\w+) by (\\S+)</regex><order>action, srcip</order></decoder>`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100201" level="5"><decoded_as>door</decoded_as><action>knocked</action><options>no_log</options><description>Knocked.</description></rule>
  <rule id="100202" level="7"><decoded_as>door</decoded_as><action>forced</action><description>Forced.</description></rule>
</group>`;
const PATIENCE_MS = 30_000;

type Message = {
  version: number;
  origin: object;
  command: string;
  parameters: {
    extra_args: string[];
    program?: string;
    alert: { id: string; rule: { id: string }; data: { srcip: string } };
  };
};

describe('active response, from the rule to the host', function () {
  this.timeout(120_000);
  const home = new RemotedHome({ sections: SECTIONS });
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const execd = new RequestClient({ contract: execdContract, path: home.socket('svc-execd') });
  const producer = new EventProducer({
    path: home.eventsSocket(),
    daemon: 'svc-test',
    logger: new RecordingLogger(),
  });
  const agent = new MinimalAgent(identity(1));
  const running = new Map<DaemonName, RunningDaemon>();

  before(async () => {
    for (const directory of ['queue/db', 'queue/execd', 'queue/responses', 'active-response/bin', 'etc/shared']) {
      mkdirSync(home.path(directory), { recursive: true, mode: 0o750 });
    }
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeFileSync(home.path('ruleset/rules/door.xml'), RULES);
    writeFileSync(home.path('active-response/bin/lock'), STATEFUL);
    chmodSync(home.path('active-response/bin/lock'), 0o750);
    home.keys(identity(1));
    await start('svc-db', 'svc-analysisd', 'svc-remoted', 'svc-execd');
    await db.call('agents.register', { id: '001', name: 'box001', dateAdd: 1_700_000_000 });
    producer.start();
    await connect();
  });
  after(async () => {
    agent.close();
    await producer.close(0);
    db.close();
    execd.close();
    for (const daemon of running.values()) await daemon.stop('SIGKILL');
    home.remove();
  });

  async function start(...names: DaemonName[]): Promise<void> {
    for (const name of names) running.set(name, await RunningDaemon.start(name, home));
  }
  const kill = (name: DaemonName) => running.get(name)?.stop('SIGKILL');
  async function connect(): Promise<void> {
    await agent.connect(running.get('svc-remoted')?.port('agents_tcp') ?? 0);
    await agent.start();
    agent.keepalive();
    await eventually('it is active', async () =>
      (await db.call('agents.ids', { status: 'active' })).ids.includes('001'),
    );
  }
  /** Events as producers send them; resolves when they are acknowledged. */
  async function send(...events: readonly (readonly [text: string, fromAgent: boolean])[]): Promise<void> {
    const acknowledged = events.map(([text, fromAgent]) => {
      const event: BusEvent = {
        queue: '1',
        location: '/var/log/door.log',
        message: Buffer.from(`Mar  7 09:15:02 gate doord[1]: ${text}`),
        receivedAt: Date.now(),
        ...(fromAgent ? { agent: { id: '001', name: 'box001', ip: '127.0.0.1', labels: new Map() } } : {}),
      };
      return producer.send(event);
    });
    await Promise.all(acknowledged);
  }
  /** What the program was told, in order. */
  const told = (): Message[] => {
    const path = home.path('logs', 'lock.log');
    if (!existsSync(path)) return [];
    // The last line may be on its way.
    const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line) as Message);
  };
  const acted = () =>
    told()
      .filter(({ command }) => command === 'continue')
      .map(addressOf);
  /** Orders that the agent got. */
  const ordered = () =>
    agent.received
      .filter((text) => text.startsWith('execd '))
      .map((text) => JSON.parse(text.slice('execd '.length)) as Message);
  const addressOf = ({ parameters }: Message) => parameters.alert.data.srcip;
  const feed = async () =>
    (await execd.call('stats', {}))['feed'] as {
      decisions: Record<string, number>;
      deliveries: Record<string, number>;
    };
  const noted = () =>
    eventually('what was sent is noted', async () => (await feed()).deliveries['waiting'] === 0, PATIENCE_MS);

  it('runs on the manager and on the agent what each is to run, in the form of the contract', async () => {
    agent.event('/var/log/door.log', 'Mar  7 09:15:02 gate doord[1]: knocked by 203.0.113.1');
    agent.event('/var/log/door.log', 'Mar  7 09:15:02 gate doord[1]: forced by 203.0.113.2');
    agent.event('/var/log/door.log', 'Mar  7 09:15:02 gate doord[1]: forced by 10.1.2.3');
    await send(['knocked by 10.1.2.4', false], ['forced by 203.0.113.3', false]);
    await eventually('both are carried out', () => acted().length === 2 && ordered().length === 1, PATIENCE_MS);
    expect(acted()).to.have.members(['203.0.113.1', '203.0.113.3']);
    // The events came in on two ways, so either may be first.
    const add = told().find((message) => message.command === 'add' && addressOf(message) === '203.0.113.1');
    expect(add?.parameters.alert.rule.id).to.equal('100201');
    expect(add).to.deep.include({
      version: 1,
      origin: { name: 'node01', module: 'wazuh-execd' },
      command: 'add',
    });
    expect(add?.parameters).to.deep.include({
      extra_args: ['-q', 'now'],
      program: 'active-response/bin/lock',
    });
    const [order] = ordered();
    expect(order).to.deep.include({
      version: 1,
      origin: { name: 'node01', module: 'wazuh-analysisd' },
      command: 'lock300',
    });
    expect(order?.parameters.extra_args).to.deep.equal(['-q', 'now']);
    expect(order && addressOf(order)).to.equal('203.0.113.2');
    await noted();
    expect((await feed()).decisions).to.deep.equal({ here: 2, agents: 1, refused: 0, late: 0, unreadable: 0 });
  });

  it('does each once when svc-execd and svc-analysisd are killed, and an agent is away', async () => {
    const here = Array.from({ length: 5 }, (_, n) => `198.51.100.${String(n)}`);
    const there = Array.from({ length: 5 }, (_, n) => `198.51.101.${String(n)}`);
    agent.close();
    await kill('svc-execd');
    await send(...here.map((ip) => [`knocked by ${ip}`, true] as const));
    await kill('svc-analysisd');
    await start('svc-analysisd');
    await send(...there.map((ip) => [`forced by ${ip}`, true] as const));
    await kill('svc-analysisd');
    await start('svc-execd', 'svc-analysisd');
    await eventually('what is for the manager is done', () => acted().length === 7, PATIENCE_MS);
    expect(acted().slice(2)).to.have.members(here);
    await eventually('the rest waits', async () => (await feed()).deliveries['waiting'] === 5, PATIENCE_MS);
    await kill('svc-execd');
    await kill('svc-analysisd');
    await start('svc-analysisd', 'svc-execd');
    await connect();
    await eventually('the agent has it', () => ordered().length === 6, PATIENCE_MS);
    expect(ordered().slice(1).map(addressOf)).to.deep.equal(there);
    // An order that is not noted yet comes twice when svc-execd is killed now.
    await noted();
    await kill('svc-execd');
    await start('svc-execd');
    await send(['knocked by 192.0.2.1', true], ['forced by 192.0.2.2', true]);
    await eventually('both are done', () => acted().length === 8 && ordered().length === 7, PATIENCE_MS);
    expect(acted().at(-1)).to.equal('192.0.2.1');
    expect(ordered().map(addressOf).at(-1)).to.equal('192.0.2.2');
    await noted();
    expect((await feed()).deliveries).to.deep.equal({ sent: 1, dropped: 0, waiting: 0 });
  });

  it('takes over what a reload brings', async () => {
    const more = SECTIONS.replace('<rules_id>100201</rules_id>', '<rules_id>100202</rules_id>').replaceAll('600', '30');
    const path = home.path('etc', 'manager.conf');
    writeFileSync(path, readFileSync(path, 'utf8').replace(SECTIONS, more));
    const analysisd = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    await execd.call('reload', {});
    await analysisd.call('reload', {}, { deadlineMs: PATIENCE_MS });
    analysisd.close();
    expect(readFileSync(home.path('etc/shared/ar.conf'), 'utf8')).to.contain('lock30 - lock - 30\n');
    await send(['knocked by 192.0.2.7', true], ['forced by 192.0.2.8', false]);
    await eventually('it is done', () => acted().at(-1) === '192.0.2.8', PATIENCE_MS);
    expect(acted()).not.to.include('192.0.2.7');
  });
});
