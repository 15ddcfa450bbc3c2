import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { ApiClient } from '../../support/api/api-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { STATEFUL } from '../../support/execd/response-kit.js';
import { SyslogServer } from '../../support/monitord/syslog-server.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';
import { fimEvent } from '../../support/syscheckd/fim-kit.js';

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-1"><parent>door</parent><regex>^(\\w+) by (\\S+)</regex><order>action, srcip</order></decoder>`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100201" level="5"><decoded_as>door</decoded_as><action>forced</action><description>Forced.</description></rule>
  <rule id="7" level="0" noalert="1"><category>ossec</category><description>Any of our own.</description></rule>
  <rule id="554" level="5"><category>ossec</category><decoded_as>syscheck_new_entry</decoded_as><description>Added.</description></rule>
</group>`;
const HOUR_MS = 3_600_000;
const PATIENCE_MS = 30_000;

/** Names of counters, as the lists of daemons-and-config.md 11 have them: words that stand for numbers, and trees of them. */
type Tree = { readonly [name: string]: Tree | 'number' };
const numbers = (names: string): Tree =>
  Object.fromEntries(names.split(/[\s,]+/).map((name): [string, 'number'] => [name, 'number']));
const each = (names: string, below: Tree): Tree => Object.fromEntries(names.split(' ').map((name) => [name, below]));

const BREAKDOWN: Tree = {
  ...numbers('agent agentless dbsync monitor remote syslog'),
  integrations_breakdown: numbers('virustotal'),
  modules_breakdown: {
    ...numbers('aws azure ciscat command docker gcp github ms-graph office365 oscap osquery rootcheck sca syscheck'),
    ...numbers('syscollector upgrade vulnerability'),
    logcollector_breakdown: numbers('eventchannel eventlog macos others'),
  },
};
const ANALYSISD: Tree = {
  bytes: numbers('received'),
  eps: numbers('available_credits available_credits_prev events_dropped events_dropped_not_eps seconds_over_limit'),
  events: {
    ...numbers('processed received'),
    received_breakdown: { decoded_breakdown: BREAKDOWN, dropped_breakdown: BREAKDOWN },
    written_breakdown: numbers('alerts archives firewall fts stats'),
  },
  queues: each(
    'alerts archives dbsync eventchannel firewall fts hostinfo others processed rootcheck sca stats syscheck syscollector upgrade',
    numbers('size usage'),
  ),
};
const REMOTED: Tree = {
  bytes: numbers('received sent'),
  ...numbers('tcp_sessions keys_reload_count control_messages_queue_usage'),
  messages: {
    received_breakdown: {
      ...numbers('control dequeued_after discarded event ping unknown'),
      control_breakdown: numbers('keepalive request shutdown startup'),
    },
    sent_breakdown: numbers('ack ar discarded request sca shared'),
  },
  queues: { received: numbers('size usage') },
  control_messages_queue_breakdown: numbers('inserted replaced processed'),
  syslog: numbers('received refused too_long dropped'),
};
const QUERIES: Tree = {
  ...numbers('agent global mitre task wazuhdb'),
  agent_breakdown: {
    db: numbers('begin close commit get_fragmentation remove sleep sql vacuum'),
    tables: { ...numbers('ciscat sca'), ...each('rootcheck syscheck syscollector', {}), sync: numbers('dbsync') },
  },
  global_breakdown: {
    db: numbers('backup get_fragmentation sleep sql vacuum'),
    tables: each('agent belongs group labels', {}),
  },
  ...each('mitre_breakdown task_breakdown wazuhdb_breakdown', {}),
};
const DB: Tree = {
  queries: { ...numbers('received'), received_breakdown: QUERIES },
  time: { ...numbers('execution'), execution_breakdown: QUERIES },
};
const EXECD: Tree = {
  responses: numbers('accepted refused started failed runs scripts in_force undone'),
  decisions: numbers('here agents refused late unreadable'),
  deliveries: numbers('sent dropped waiting'),
  lag_seconds: 'number',
};

const ANALYSISD_STATE = [
  ...['total_events_decoded', 'syscheck_events_decoded', 'syscollector_events_decoded', 'rootcheck_events_decoded'],
  ...['sca_events_decoded', 'winevt_events_decoded', 'dbsync_messages_dispatched', 'other_events_decoded'],
  ...['events_processed', 'events_received', 'events_dropped', 'alerts_written', 'firewall_written', 'fts_written'],
  ...['syscheck', 'syscollector', 'rootcheck', 'sca', 'hostinfo', 'winevt', 'dbsync', 'upgrade', 'event']
    .concat('rule_matching', 'alerts', 'firewall', 'statistical', 'archives')
    .flatMap((queue) => [`${queue}_queue_usage`, `${queue}_queue_size`]),
];
const REMOTED_STATE = [
  ...['queue_size', 'total_queue_size', 'tcp_sessions', 'evt_count', 'ctrl_msg_count', 'discarded_count'],
  ...['sent_bytes', 'recv_bytes', 'dequeued_after_close', 'ctrl_msg_queue_usage', 'ctrl_msg_queue_inserted'],
  ...['ctrl_msg_queue_replaced', 'ctrl_msg_queue_processed'],
];

/** Names that an answer lacks, or that are of another type. */
function lacks(tree: Tree, found: unknown, path = ''): string[] {
  return Object.entries(tree).flatMap(([name, below]) => {
    const value = (found as Record<string, unknown> | undefined)?.[name];
    const here = `${path}${name}`;
    if (below === 'number') return typeof value === 'number' && value >= 0 ? [] : [here];
    return typeof value === 'object' && value !== null ? lacks(below, value, `${here}.`) : [here];
  });
}

describe('statistics of a manager that has work', function () {
  this.timeout(120_000);
  const syslog = new SyslogServer();
  const checker = new ResponseChecker();
  let home: RemotedHome;
  let api: ApiClient;
  let db: RequestClient<typeof dbContract>;
  let producer: EventProducer;
  const agent = new MinimalAgent(identity(1));
  const running = new Map<DaemonName, RunningDaemon>();
  /** In the hour before this one: its totals are written when the first event of this hour comes. */
  const earlier = new Date(Date.now() - HOUR_MS);

  before(async () => {
    await syslog.start();
    makeHome();
    await start('svc-db', 'svc-analysisd');
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer.start();
    await send('forced by 203.0.113.1', earlier.getTime());
    await start('svc-remoted', 'svc-monitord', 'svc-execd', 'svc-apid');
    await db.call('agents.register', { id: '001', name: 'box001', dateAdd: 1_700_000_000 });
    await agent.connect(running.get('svc-remoted')?.port('agents_tcp') ?? 0);
    await agent.start();
    agent.keepalive();
    agent.event('/var/log/door.log', text('forced by 203.0.113.2'));
    agent.event('syscheck', fimEvent('added', '/etc/x', { type: 'file', size: 7, uid: '0', gid: '0' }), '8');
    await send('forced by 203.0.113.3');
    await eventually('three are analysed', async () => alertsWritten(await stats('svc-analysisd')) >= 4, PATIENCE_MS);
    await eventually('three are forwarded', () => syslog.messages.length >= 3, PATIENCE_MS);
  });
  after(async () => {
    agent.close();
    await producer.close(0);
    db.close();
    for (const daemon of running.values()) await daemon.stop('SIGKILL');
    await syslog.stop();
    home.remove();
  });

  function makeHome(): void {
    home = new RemotedHome({
      options: 'analysisd.state_interval=1\nremoted.state_interval=1\n',
      sections: `<global><limits><eps><maximum>1000</maximum><timeframe>10</timeframe></eps></limits></global>
<syslog_output><server>127.0.0.1</server><port>${String(syslog.port)}</port><protocol>tcp</protocol><format>json</format></syslog_output>
<command><name>lock</name><executable>lock</executable><timeout_allowed>yes</timeout_allowed></command>
<active-response><command>lock</command><location>server</location><rules_id>100201</rules_id><timeout>600</timeout></active-response>`,
    });
    for (const path of ['queue/db', 'queue/execd', 'queue/responses', 'queue/outputs', 'active-response/bin']) {
      mkdirSync(home.path(path), { recursive: true, mode: 0o750 });
    }
    for (const path of ['etc/shared', 'logs/alerts', 'api/configuration/security']) {
      mkdirSync(home.path(path), { recursive: true, mode: 0o750 });
    }
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeFileSync(home.path('ruleset/rules/door.xml'), RULES);
    writeFileSync(home.path('active-response/bin/lock'), STATEFUL);
    chmodSync(home.path('active-response/bin/lock'), 0o750);
    writeFileSync(
      home.path('api/configuration/api.yaml'),
      "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\n",
    );
    home.keys(identity(1));
    api = new ApiClient(home);
    db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  }
  async function start(...names: DaemonName[]): Promise<void> {
    await Promise.all(names.map(async (name) => running.set(name, await RunningDaemon.start(name, home))));
  }
  const text = (log: string): string => `Mar  7 09:15:02 gate doord[1]: ${log}`;
  /** An event as producers send it; resolves when it is acknowledged. */
  const send = (log: string, receivedAt = Date.now()) =>
    producer.send({ queue: '1', location: '/var/log/door.log', message: Buffer.from(text(log)), receivedAt });

  async function items(path: string): Promise<Record<string, unknown>[]> {
    const answer = await api.call('GET', path);
    expect(answer?.status, `${path}: ${answer?.text ?? 'no answer'}`).to.equal(200);
    if (answer === undefined) return [];
    checker.check('GET', path.split('?')[0] ?? path, answer);
    const { data, error } = answer.json() as ApiList;
    expect(error, path).to.equal(0);
    return data.affected_items;
  }
  type Metrics = Record<string, unknown>;
  async function stats(daemon: DaemonName): Promise<Metrics> {
    const [item] = await items(`/manager/daemons/stats?daemons_list=${daemon}`);
    return item?.['metrics'] as Metrics;
  }
  const at = (metrics: unknown, path: string): number =>
    path.split('.').reduce<unknown>((value, name) => (value as Metrics)[name], metrics) as number;
  const alertsWritten = (metrics: Metrics): number => at(metrics, 'events.written_breakdown.alerts');

  it('has every counter of svc-analysisd, svc-remoted and svc-db, which have counted', async () => {
    const all = await items('/manager/daemons/stats');
    expect(all.map(({ name }) => name)).to.deep.equal(['svc-analysisd', 'svc-remoted', 'svc-db']);
    for (const [i, tree] of [ANALYSISD, REMOTED, DB].entries()) {
      const { name, metrics, timestamp, uptime } = all[i] ?? {};
      expect(lacks(tree, metrics), String(name)).to.deep.equal([]);
      const [now, since] = [Date.parse(String(timestamp)), Date.parse(String(uptime))];
      expect(now, String(name))
        .to.be.at.least(since)
        .and.within(Date.now() - 60_000, Date.now() + 1000);
    }
    const [analysisd, remoted, database] = all.map(({ metrics }) => metrics);
    for (const path of ['bytes.received', 'events.received', 'events.processed', 'events.written_breakdown.alerts']) {
      expect(at(analysisd, path), path).to.be.at.least(4);
    }
    const decoded = 'events.received_breakdown.decoded_breakdown.modules_breakdown';
    expect(at(analysisd, `${decoded}.syscheck`)).to.equal(1);
    expect(at(analysisd, `${decoded}.logcollector_breakdown.others`)).to.equal(3);
    expect(at(remoted, 'messages.received_breakdown.event')).to.equal(2);
    expect(at(remoted, 'messages.received_breakdown.control_breakdown.startup')).to.equal(1);
    expect(at(remoted, 'messages.received_breakdown.control_breakdown.keepalive')).to.equal(1);
    expect(at(remoted, 'messages.sent_breakdown.ack')).to.be.at.least(2);
    expect(at(remoted, 'tcp_sessions')).to.equal(1);
    expect(at(remoted, 'bytes.received')).to.be.above(0);
    expect(at(database, 'queries.received_breakdown.global')).to.be.above(0);
    expect(at(database, 'queries.received')).to.be.above(0);
  });

  it('has what became of alerts, when it is asked for', async () => {
    await eventually(
      'the responses are carried out',
      async () => at(await stats('svc-execd'), 'responses.in_force') === 2,
    );
    const named = await items('/manager/daemons/stats?daemons_list=svc-execd,svc-monitord');
    expect(named.map(({ name }) => name)).to.deep.equal(['svc-monitord', 'svc-execd']);
    const [monitord, execd] = named.map(({ metrics }) => metrics as Metrics);
    const [output] = monitord!['outputs'] as Metrics[];
    expect(output).to.deep.include({ name: `syslog 127.0.0.1:${String(syslog.port)}/tcp`, failed: 0, rejected: 0 });
    expect(output).to.deep.include({ available: true, lag: { bytes: 0, seconds: 0 } });
    expect(output?.['delivered']).to.be.at.least(3);
    expect(lacks(EXECD, execd)).to.deep.equal([]);
    // What was decided an hour ago would be undone by now.
    expect(execd).to.have.nested.property('decisions.late', 1);
    expect(execd).to.have.nested.property('decisions.here', 2);
    expect(execd).to.have.nested.property('responses.started', 2);
  });

  it('has every counter of the state files', async () => {
    // There is none before the first interval is over.
    const state = async (daemon: string): Promise<Record<string, unknown>> => {
      const missing = (await api.call('GET', `/manager/stats/${daemon}`))?.status === 400;
      return missing ? {} : ((await items(`/manager/stats/${daemon}`))[0] ?? {});
    };
    const analysisd = await eventually('the file is written', async () => {
      const now = await state('analysisd');
      return Number(now['alerts_written']) >= 4 ? now : undefined;
    });
    const remoted = await eventually('the file is written', async () => {
      const now = await state('remoted');
      return Number(now['evt_count']) >= 2 ? now : undefined;
    });
    expect(Object.keys(analysisd).sort()).to.deep.equal([...ANALYSISD_STATE].sort());
    expect(Object.keys(remoted).sort()).to.deep.equal([...REMOTED_STATE].sort());
    for (const [name, value] of Object.entries({ ...analysisd, ...remoted })) expect(value, name).to.be.a('number');
    expect(analysisd).to.include({ syscheck_events_decoded: 1, events_dropped: 0 });
    for (const name of ['total_events_decoded', 'events_processed', 'events_received']) {
      expect(analysisd[name], name).to.be.at.least(4);
    }
    expect(remoted).to.include({ tcp_sessions: 1, discarded_count: 0, ctrl_msg_count: 2 });
    for (const name of ['sent_bytes', 'recv_bytes', 'total_queue_size', 'ctrl_msg_queue_inserted']) {
      expect(remoted[name], name).to.be.above(0);
    }
  });

  it('has the totals of an hour that is over, and averages for each hour and weekday', async () => {
    const two = (value: number): string => String(value).padStart(2, '0');
    const date = `${String(earlier.getFullYear())}-${two(earlier.getMonth() + 1)}-${two(earlier.getDate())}`;
    const hours = await items(`/manager/stats?date=${date}`);
    expect(hours.find(({ hour }) => hour === earlier.getHours())).to.deep.equal({
      hour: earlier.getHours(),
      alerts: [{ sigid: 100_201, level: 5, times: 1 }],
      totalAlerts: 1,
      events: 1,
      syscheck: 0,
      firewall: 0,
    });
    const [hourly] = await items('/manager/stats/hourly');
    expect(hourly).to.have.property('interactions').that.is.a('number');
    expect(hourly?.['averages']).to.be.an('array').with.length(24).and.satisfy(isNumbers);
    const weekly = await items('/manager/stats/weekly');
    expect(weekly.flatMap((day) => Object.keys(day))).to.deep.equal(['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']);
    for (const day of weekly) {
      const [table] = Object.values(day) as Metrics[];
      expect(table).to.have.property('interactions').that.is.a('number');
      expect(table?.['hours']).to.be.an('array').with.length(24).and.satisfy(isNumbers);
    }
  });
  const isNumbers = (values: unknown[]): boolean => values.every((value) => Number.isInteger(value));
});
