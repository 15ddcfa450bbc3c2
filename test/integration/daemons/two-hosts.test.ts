import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import type { InventoryType } from '../../../lib/bus/contracts/db-inventory.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { killSupervised } from '../../support/daemon/kill-supervised.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const MANAGER_DAEMONS: readonly DaemonName[] = ['svc-db', 'svc-analysisd', 'svc-authd', 'svc-remoted', 'svc-monitord'];
/** Logs whose counters do not fit into one message. */
const MANY = 500;
const WAIT_MS = 30_000;
const LINE = 'Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2';

/** A response as users write them: it logs what it is told. */
const SHUT = `#!/bin/sh
read -r line
printf '%s %s: %s\\n' "$(date '+%Y/%m/%d %H:%M:%S')" "$0" "$line" >> logs/active-responses.log
`;

type Alert = {
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string; readonly name: string };
  readonly location: string;
  readonly full_log?: string;
};

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe('a manager and an agent', function () {
  this.timeout(120_000);
  const manager = new TemporaryHome();
  const agent = new TemporaryHome({ version: 1, role: 'agent' });
  const daemons = new Map<DaemonName, RunningDaemon>();
  const remoted = new RequestClient({ contract: remotedContract, path: manager.socket('svc-remoted') });
  const db = new RequestClient({ contract: dbContract, path: manager.socket('svc-db') });
  const agentd = new RequestClient({ contract: agentdContract, path: agent.socket('svc-agentd') });
  let supervisor: TestProgram | undefined;

  before(async () => {
    await initHome(manager, { role: 'server' });
    await initHome(agent, { role: 'agent' });
    writeFileSync(
      manager.path('etc', 'manager.conf'),
      `<manager_config>
         <global><agents_disconnection_time>3s</agents_disconnection_time></global>
         <remote><connection>secure</connection><port>0</port><protocol>tcp</protocol><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>0</port><disabled>no</disabled></auth>
       </manager_config>\n`,
    );
    for (const name of MANAGER_DAEMONS) daemons.set(name, await RunningDaemon.start(name, manager));
    mkdirSync(agent.path('logs', 'app'));
    mkdirSync(agent.path('logs', 'many'));
    for (let number = 0; number < MANY; number += 1) writeFileSync(agent.path('logs', 'many', String(number)), '');
    for (const log of ['app/auth.log', 'active-responses.log']) writeFileSync(agent.path('logs', log), '');
    writeFileSync(
      agent.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${await freePort()}</port><max_retries>1</max_retries><retry_interval>1</retry_interval></server>
           <server><address>127.0.0.1</address><port>${port('svc-remoted', 'agents_tcp')}</port><retry_interval>1</retry_interval></server>
           <notify_time>1</notify_time>
           <enrollment><port>${port('svc-authd', 'enrollment')}</port><agent_name>web01</agent_name><delay_after_enrollment>0</delay_after_enrollment></enrollment>
         </client>
         <labels><label key="site">north</label></labels>
         <localfile><log_format>syslog</log_format><location>logs/app/auth.log</location></localfile>
         <localfile><log_format>syslog</log_format><location>logs/active-responses.log</location></localfile>
         <localfile><log_format>syslog</log_format><location>logs/many/*</location></localfile>
         <wodle name="syscollector"><interval>1h</interval><synchronization><max_eps>1000</max_eps></synchronization></wodle>
       </manager_config>\n`,
    );
    const control = join(fileURLToPath(productRoot()), 'bin', 'svc-control');
    supervisor = new TestProgram(control, ['run', '--home', agent.root]);
  });
  after(async () => {
    for (const client of [remoted, db, agentd]) client.close();
    await killAgent();
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    manager.remove();
    agent.remove();
  });

  const port = (name: DaemonName, listener: string): number => daemons.get(name)?.port(listener) ?? 0;
  const status = async (): Promise<unknown> => {
    const { items } = await db.call('agents.get', { ids: ['001'] });
    return items[0]?.['status'];
  };
  const ask = async (target: string, payload: string): Promise<string> =>
    (await remoted.call('agents.request', { id: '001', target, payload })).answer;
  const alerts = (): Alert[] => {
    const path = manager.path('logs', 'alerts', 'alerts.json');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Alert);
  };
  const pidOf = (name: DaemonName): number | undefined => readRunRecord(agent.path('var', 'run', `${name}.json`))?.pid;

  /** The host of the agent loses its power. */
  async function killAgent(): Promise<void> {
    const running = supervisor;
    supervisor = undefined;
    if (running === undefined) return;
    await killSupervised(agent, running);
  }

  it('enrols, connects at the second server, and is active', async () => {
    await eventually('the agent is active', async () => (await status()) === 'active', WAIT_MS);
    const own = readFileSync(agent.path('etc', 'client.keys'), 'utf8');
    expect(own).to.match(/^001 web01 any [0-9a-f]{64}\n$/);
    expect(readFileSync(manager.path('etc', 'client.keys'), 'utf8')).to.equal(own);
    const state = async () => agentd.call('getstate', {});
    expect(await state()).to.include({ status: 'connected', buffer_enabled: true });
    await eventually('its buffer is empty', async () => (await state()).msg_buffer === 0, WAIT_MS);
    const log = readFileSync(agent.path('logs', 'manager.log'), 'utf8');
    expect(log).to.contain('Valid key received').and.contain('Unable to connect to').and.contain('Trying next server');
    expect(log).to.contain(`(4102): Connected to the server ([127.0.0.1]:${port('svc-remoted', 'agents_tcp')}/tcp).`);
    await eventually('the alert of its start', () => alerts().some(({ rule }) => rule.id === '501'), WAIT_MS);
    await eventually('the state file', () => existsSync(agent.path('var', 'run', 'svc-agentd.state')), WAIT_MS);
  });

  it("makes an alert of a line of a file, with the agent's id and location", async () => {
    await eventually('the file is followed', () =>
      readFileSync(agent.path('logs', 'manager.log'), 'utf8').includes("auth.log'"),
    );
    appendFileSync(agent.path('logs', 'app', 'auth.log'), `${LINE}\n`);
    const alert = await eventually('the alert', () => alerts().find(({ rule }) => rule.id === '5710'), WAIT_MS);
    expect(alert.agent).to.include({ id: '001', name: 'web01' });
    expect(alert.agent).to.have.nested.property('labels.site', 'north');
    expect(alert.location).to.match(/logs\/app\/auth\.log$/);
    expect(alert.full_log).to.equal(LINE);
  });

  it('tells the state of many logs in pages', async () => {
    type Page = { error: number; remaining: boolean; data: { global: { files: { location: string }[] } } };
    const pages: Page[] = [];
    for (let command = 'getstate'; command !== ''; command = pages.at(-1)?.remaining === true ? 'getstate next' : '') {
      pages.push(JSON.parse(await ask('logcollector', command)) as Page);
    }
    expect(pages.length).to.be.greaterThan(1);
    const locations = pages.flatMap(({ data }) => data.global.files.map(({ location }) => location));
    expect(locations.filter((location) => location.startsWith(agent.path('logs', 'many')))).to.have.length(MANY);
    expect(new Set(locations).size).to.equal(locations.length);
    expect(await ask('logcollector', 'getstate next')).to.equal('err There is no next page');
  });

  it('answers the manager, and names what is not there', async () => {
    expect(JSON.parse((await ask('agent', 'getconfig client')).slice(3))).to.have.nested.property(
      'client.notify_time',
      1,
    );
    expect(JSON.parse((await ask('agent', 'getconfig labels')).slice(3))).to.deep.equal({
      labels: [{ value: 'north', key: 'site', hidden: 'no' }],
    });
    expect(JSON.parse(await ask('agent', 'getstate'))).to.have.nested.property('data.status', 'connected');
    expect(await ask('logcollector', 'getconfig localfile')).to.match(/^ok \{.*auth\.log/);
    expect(JSON.parse(await ask('logcollector', 'getstate'))).to.have.nested.property('data.global');
    expect(await ask('agent', 'getconfig nosuch')).to.equal('err Could not get requested section');
    expect(await ask('agent', 'dance')).to.equal('err Unrecognized command');
    await eventually(
      'svc-modulesd answers',
      async () => (await ask('wmodules', 'getconfig wmodules')).startsWith('ok {"wmodules":['),
      WAIT_MS,
    );
    expect(await ask('wmodules', 'getconfig nosuch')).to.equal('err Could not get requested section');
    expect(await ask('wmodules', 'getconfig')).to.equal('err WMCOM getconfig needs arguments');
    expect(await ask('com', 'getconfig logging')).to.equal('ok {"logging":{"plain":"yes","json":"no"}}');
    const responses = 'ok {"active-response":{"disabled":"no","repeated_offenders":[]}}';
    await eventually(
      'svc-execd answers',
      async () => (await ask('com', 'getconfig active-response')) === responses,
      WAIT_MS,
    );
    expect(await ask('com', 'getconfig cluster')).to.equal('err Could not get requested section');
    expect(await ask('agent', 'getconfig logging')).to.equal('err Could not get requested section');
    expect(await ask('nosuch', 'x')).to.equal("err Unknown target 'nosuch'");
  });

  it('has the inventory of the agent', async () => {
    const listed = (type: InventoryType) => db.call('inventory.list', { type, agents: ['001'], limit: 100_000 });
    await eventually('its system', async () => (await listed('os')).total === 1, WAIT_MS);
    expect((await listed('os')).items[0]).to.include({ agent_id: '001', hostname: hostname() });
    const agentds = async () =>
      (await listed('processes')).items.filter(({ pid }) => pid === String(pidOf('svc-agentd')));
    const [row] = await eventually('its processes', async () => {
      const found = await agentds();
      return found.length > 0 && found;
    });
    expect(row?.['argvs']).to.contain(agent.root);
    const users = readFileSync('/etc/passwd', 'utf8').match(/^[^#+:\n-][^:\n]*(?=:)/gm) ?? [];
    await eventually('its users', async () => (await listed('users')).total === new Set(users).size, WAIT_MS);
  });

  it('carries out a response at the agent, whose answer becomes an alert', async () => {
    const order = (command: string) => {
      const alert = { data: { srcip: '192.0.2.7' } };
      const origin = { name: 'node01', module: 'wazuh-analysisd' };
      const message = JSON.stringify({ version: 1, origin, command, parameters: { extra_args: [], alert } });
      return remoted.call('agents.send', { ids: ['001'], message: `execd ${message}` });
    };
    const log = () => readFileSync(agent.path('logs', 'manager.log'), 'utf8');
    const program = agent.path('active-response', 'bin', 'shut');
    writeFileSync(program, SHUT);
    chmodSync(program, 0o750);
    await order('nonsense0');
    await eventually(
      'the refusal',
      () => log().includes("(1311): Invalid command name 'nonsense0' provided."),
      WAIT_MS,
    );
    await eventually('its log is followed', () => log().includes("active-responses.log'"), WAIT_MS);
    await order('!shut');
    const alert = await eventually('the alert', () => alerts().find(({ rule }) => rule.id === '657'), WAIT_MS);
    expect(alert.agent).to.include({ id: '001', name: 'web01' });
    expect(alert.full_log).to.match(
      /active-response\/bin\/shut: \{.*"srcip":"192\.0\.2\.7".*"program":"active-response\/bin\/shut"/,
    );
    expect(alerts().filter(({ rule }) => rule.id === '657')).to.have.length(1);
  });

  it('connects anew when told to, keeps its events while no manager is there, and restarts when told to', async () => {
    const connections = async (): Promise<number> => {
      const { connection } = (await agentd.call('stats', {})) as { connection: { connections: number } };
      return connection.connections;
    };
    await remoted.call('agents.send', { ids: ['001'], message: 'force_reconnect' });
    await eventually('the second connection', async () => (await connections()) === 2, WAIT_MS);
    const lines = ['203.0.113.1', '203.0.113.2'].map((ip) => LINE.replace('192.0.2.7', ip));
    const found = (line: string | undefined) => () => alerts().filter(({ full_log }) => full_log === line).length === 1;
    const address = port('svc-remoted', 'agents_tcp');
    await daemons.get('svc-remoted')?.stop('SIGKILL');
    await eventually('the loss', async () => (await agentd.call('getstate', {})).status === 'disconnected', WAIT_MS);
    appendFileSync(agent.path('logs', 'app', 'auth.log'), `${lines[0] ?? ''}\n`);
    // It comes back where it was.
    const configuration = manager.path('etc', 'manager.conf');
    writeFileSync(
      configuration,
      readFileSync(configuration, 'utf8').replace(
        'secure</connection><port>0<',
        `secure</connection><port>${address}<`,
      ),
    );
    daemons.set('svc-remoted', await RunningDaemon.start('svc-remoted', manager));
    await eventually('the alert of a line written meanwhile', found(lines[0]), WAIT_MS);
    const before = pidOf('svc-agentd');
    expect(await ask('com', 'restart')).to.equal('ok ');
    await eventually('another svc-agentd', () => pidOf('svc-agentd') !== before, WAIT_MS);
    appendFileSync(agent.path('logs', 'app', 'auth.log'), `${lines[1] ?? ''}\n`);
    await eventually('an alert after the restart', found(lines[1]), WAIT_MS);
  });

  it('is seen disconnected when it is killed', async () => {
    await eventually('the agent is active', async () => (await status()) === 'active', WAIT_MS);
    await killAgent();
    await eventually('the agent is disconnected', async () => (await status()) === 'disconnected', WAIT_MS);
    await eventually('the alert', () => alerts().some(({ rule }) => rule.id === '504'), WAIT_MS);
  });
});
