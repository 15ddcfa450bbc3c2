import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import type { InventoryType } from '../../../lib/bus/contracts/db-inventory.js';
import { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';
import { knowFewRules } from '../../support/watch-little.js';

type Message = {
  readonly type: string;
  readonly operation?: string;
  readonly component?: string;
  readonly data: Record<string, unknown>;
};

describe('inventory of svc-modulesd on an agent', function () {
  this.timeout(60_000);
  const home = new TemporaryHome({ version: 1, role: 'agent' });
  const sink = new KeepingSink(home);
  const modulesd = new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') });
  let daemon: RunningDaemon | undefined;
  let server: Server | undefined;

  before(async () => {
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
    mkdirSync(home.path('etc', 'shared'), { recursive: true });
    configure('<ports all="no">yes</ports><groups>yes</groups>');
    // What the manager pushes is laid over it.
    writeFileSync(
      home.path('etc', 'shared', 'agent.conf'),
      '<agent_config><wodle name="syscollector"><os>yes</os></wodle></agent_config>',
    );
    await sink.start();
    daemon = await RunningDaemon.start('svc-modulesd', home);
  });
  after(async () => {
    server?.close();
    await daemon?.stop('SIGKILL');
    modulesd.close();
    await sink.stop();
    home.remove();
  });

  function configure(tables: string): void {
    const none = ['hardware', 'os', 'network', 'packages', 'processes', 'users', 'services', 'browser_extensions'];
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <client><server><address>127.0.0.1</address></server></client>
         <wodle name="syscollector">
           <interval>1s</interval>
           ${none.map((name) => `<${name}>no</${name}>`).join('')}
           ${tables}
           <synchronization><max_eps>1000</max_eps></synchronization>
         </wodle>
       </manager_config>`,
    );
  }
  const messages = (queue: string): Message[] =>
    sink.events
      .filter((event) => event.queue === queue && event.location === 'syscollector')
      .map(({ message }) => JSON.parse(message.toString()) as Message);
  const deltas = (operation: string, port: number): Message[] =>
    messages('d').filter((message) => message.operation === operation && message.data['local_port'] === port);

  it('tells the manager what is there, and sends it what it does not have', async () => {
    await eventually('a round of each table', () => messages('5').length >= 3);
    const components = new Set(messages('5').map(({ component }) => component));
    expect(components).to.include('syscollector_groups').and.include('syscollector_osinfo');
    const check = messages('5').find(({ component }) => component === 'syscollector_groups');
    expect(check?.type).to.equal('integrity_check_global');
    const { begin, end, id } = check?.data ?? {};
    await modulesd.call('order', { text: `syscollector_groups dbsync no_data ${JSON.stringify({ begin, end, id })}` });
    const group = readFileSync('/etc/group', 'utf8').split(':', 1)[0];
    const state = await eventually('a state', () =>
      messages('5').find(({ type, data }) => type === 'state' && data['index'] === group),
    );
    expect(state.data['attributes']).to.include({ group_name: group, group_uuid: ' ' });
    expect(state.data['timestamp']).to.equal('');
    expect(messages('d').filter(({ type }) => type !== 'dbsync_osinfo')).to.deep.equal([]);
  });

  it('tells of a port that is opened, and that it is closed', async () => {
    const listening = createServer();
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const { port } = listening.address() as { port: number };
    const [opened] = await eventually('it is told', () => {
      const found = deltas('INSERTED', port);
      return found.length > 0 && found;
    });
    expect(opened?.type).to.equal('dbsync_ports');
    expect(opened?.data).to.include({ protocol: 'tcp', local_ip: '127.0.0.1', state: 'listening', pid: process.pid });
    await new Promise((resolve) => listening.close(resolve));
    const [closed] = await eventually('its end is told', () => {
      const found = deltas('DELETED', port);
      return found.length > 0 && found;
    });
    expect(closed?.data['item_id']).to.equal(opened?.data['item_id']);
    // The system is told anew each time.
    expect(messages('d').some(({ type, operation }) => type === 'dbsync_osinfo' && operation === 'MODIFIED')).to.equal(
      true,
    );
  });

  it('shows what it does, and how it is configured', async () => {
    const { wmodules } = (await modulesd.call('config', { section: 'wmodules' })) as {
      wmodules: Record<string, unknown>[];
    };
    expect(wmodules).to.deep.equal([
      {
        syscollector: {
          ...{ disabled: 'no', 'scan-on-start': 'yes', interval: 1, network: 'no', os: 'yes', hardware: 'no' },
          ...{ packages: 'no', ports: 'yes', ports_all: 'no', processes: 'no', groups: 'yes', users: 'no' },
          ...{ services: 'no', browser_extensions: 'no', sync_max_eps: 1000 },
        },
      },
    ]);
    const { inventory } = (await modulesd.call('stats', {})) as unknown as {
      inventory: {
        scans: number;
        failed: number;
        rows: Record<string, number>;
        synchronization: Record<string, number>;
      };
    };
    expect(inventory).to.include({ enabled: true, failed: 0 });
    expect(inventory.rows).to.have.all.keys('osinfo', 'ports', 'groups');
    expect(inventory.synchronization).to.include({ failed: 0, malformed: 0, unknown: 0, lost: 0 });
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    for (const line of ['Module started.', 'Starting evaluation.', 'Evaluation finished.']) {
      expect(log).to.contain(`svc-modulesd:syscollector: INFO: ${line}`);
    }
    expect(log).to.not.match(/WARNING|ERROR/);
  });

  it('follows a configuration that changes, and refuses one that is wrong', async () => {
    configure('<groups>maybe</groups>');
    const error: string | undefined = await modulesd.call('reload', {}).then(
      () => undefined,
      (reason: unknown) => String(reason),
    );
    expect(error).to.contain("(1235): Invalid value for element 'groups': maybe.").and.contain('etc/manager.conf');
    configure('<nosuch>yes</nosuch>');
    expect(String(await modulesd.call('reload', {}).catch((reason: unknown) => reason))).to.match(/nosuch/);
    configure('<disabled>yes</disabled>');
    await modulesd.call('reload', {});
    const stats = (await modulesd.call('stats', {})) as unknown as { inventory: { enabled: boolean } };
    expect(stats.inventory.enabled).to.equal(false);
    expect(readFileSync(home.path('logs', 'manager.log'), 'utf8')).to.contain('Module disabled. Exiting...');
  });
});

/** As the guide has it, for ports (docs/guide/inventory.md). */
const RULE = `<group name="local,">
  <rule id="100300" level="5">
    <if_sid>221</if_sid>
    <field name="type">dbsync_ports</field>
    <field name="operation_type">INSERTED</field>
    <description>Port $(port.local_port) was opened by $(port.process).</description>
  </rule>
</group>`;

describe('inventory of svc-modulesd on a manager', function () {
  this.timeout(60_000);
  const home = new TemporaryHome();
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const modulesd = new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') });
  const daemons: RunningDaemon[] = [];

  after(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')));
    db.close();
    modulesd.close();
    home.remove();
  });

  function configure(interval: string): void {
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <ruleset><rule_dir>ruleset/rules</rule_dir><rule_dir>etc/rules</rule_dir><decoder_dir>ruleset/decoders</decoder_dir></ruleset>
         <wodle name="syscollector">
           <interval>${interval}</interval>
           <synchronization><max_eps>100000</max_eps></synchronization>
         </wodle>
       </manager_config>`,
    );
  }
  const alerts = (): string => {
    const path = home.path('logs', 'alerts', 'alerts.json');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };

  it('is stored by svc-db as that of agent 000, without an event', async () => {
    await initHome(home, { role: 'server' });
    knowFewRules(home);
    writeFileSync(home.path('etc', 'rules', 'ports.xml'), RULE);
    configure('1h');
    for (const name of ['svc-db', 'svc-analysisd', 'svc-modulesd'] as const) {
      daemons.push(await RunningDaemon.start(name, home));
    }
    const listed = (type: InventoryType) => db.call('inventory.list', { type, agents: ['000'], limit: 100_000 });
    const groups = readFileSync('/etc/group', 'utf8').match(/^[^#\n:]+(?=:)/gm) ?? [];
    await eventually('its groups', async () => (await listed('groups')).total === groups.length);
    const [system] = (await listed('os')).items;
    expect(system).to.have.nested.property('os.name');
    expect(system).to.include({ agent_id: '000', hostname: hostname() });
    const own = await eventually('its processes', async () =>
      (await listed('processes')).items.find((item) => item['pid'] === String(process.pid)),
    );
    expect(own).to.include({ ppid: process.ppid });
    expect(alerts()).to.not.contain('syscollector');
  });

  it('tells of changes, which become alerts by rules and change what is stored', async () => {
    configure('1s');
    await modulesd.call('reload', {});
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const own = readFileSync('/proc/self/comm', 'utf8').trim();
    await eventually('the alert', () => alerts().includes(`Port ${String(port)} was opened by ${own}.`));
    const listed = async () =>
      (await db.call('inventory.list', { type: 'ports', agents: ['000'], q: `local.port=${String(port)}` })).items;
    await eventually('the port', async () => (await listed()).length === 1);
    expect((await listed())[0]).to.include({ pid: process.pid, state: 'listening' });
    await new Promise((resolve) => server.close(resolve));
    await eventually('it is gone', async () => (await listed()).length === 0);
  });
});
