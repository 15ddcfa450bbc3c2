import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

/** Events of the reload test; `SVC_RELOAD_EVENTS=1000000` for the large run. */
const RELOAD_EVENTS = Number(process.env['SVC_RELOAD_EVENTS'] ?? 20_000);
const PROGRAM = fileURLToPath(new URL('bin/svc-analysisd', productRoot()));

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open">
  <parent>door</parent>
  <regex>^opened by (\\S+) number (\\d+)$</regex>
  <order>user, door.number</order>
</decoder>
`;
const rules = (level: number, extra = ''): string => `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
</group>
<group name="door,">
  <rule id="100200" level="${level}"><decoded_as>door</decoded_as><description>Door $(door.number) opened.</description></rule>
  <rule id="100210" level="12" frequency="3" timeframe="600"><if_matched_sid>100200</if_matched_sid><same_user />
    <description>Many doors opened.</description></rule>
${extra}</group>
`;

describe('svc-analysisd', () => {
  let home: TemporaryHome;
  let child: ChildProcess | undefined;
  let client: RequestClient<typeof analysisdContract>;
  let producer: EventProducer;

  beforeEach(() => {
    home = new TemporaryHome();
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeRules(rules(5));
    writeConfiguration('<global><logall_json>yes</logall_json></global>');
    client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer.start();
  });

  afterEach(async () => {
    await producer.close(0);
    client.close();
    await kill();
    home.remove();
  });

  const writeRules = (text: string) => {
    writeFileSync(home.path('ruleset/rules/door.xml'), text);
  };
  const writeConfiguration = (sections: string) => {
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config>${sections}<alerts><log_alert_level>3</log_alert_level></alerts></manager_config>\n`,
    );
  };
  const event = (number: number, user = 'ann', more: Partial<BusEvent> = {}): BusEvent => ({
    queue: '1',
    location: '/var/log/door.log',
    message: Buffer.from(`Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${String(number)}`),
    receivedAt: Date.now(),
    ...more,
  });
  const alerts = (): Record<string, unknown>[] => lines('logs/alerts/alerts.json');
  const lines = (path: string): Record<string, unknown>[] =>
    existsSync(home.path(path))
      ? readFileSync(home.path(path), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [];
  const numbers = (): string[] => alerts().map((alert) => (alert['data'] as { door: { number: string } }).door.number);

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    child = undefined;
  }

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [PROGRAM, '--home', home.root], { stdio: 'ignore' });
    child = started;
    await eventually('svc-analysisd answers', async () => {
      if (started.exitCode !== null) {
        throw new Error(`svc-analysisd ended: ${readFileSync(home.path('logs/manager.log'), 'utf8')}`);
      }
      return client.call('ping', {}).then(
        () => true,
        () => false,
      );
    });
  }
  /** An event that is acknowledged is in the journal; its alert comes soon. */
  const analysed = () =>
    eventually('everything is analysed', async () => {
      const { events } = (await client.call('stats', {})) as { events: { pending: number } };
      return events.pending === 0;
    });
  const test = () => spawnSync(process.execPath, [PROGRAM, '-t', '--home', home.root], { encoding: 'utf8' });

  it('writes alerts and archives of what it acknowledged', async () => {
    await start();
    await producer.sendAll([event(1), event(2, 'bob'), { ...event(3), message: Buffer.from('nothing known') }]);
    await analysed();
    expect(numbers()).to.deep.equal(['1', '2']);
    expect(alerts()[0]).to.deep.include({ location: '/var/log/door.log' });
    expect(alerts()[0]).to.have.nested.property('rule.id', '100200');
    expect(alerts()[1]).to.have.nested.property('data.dstuser', 'bob');
    expect(lines('logs/archives/archives.json')).to.have.length(3);
    const text = readFileSync(home.path('logs/alerts/alerts.log'), 'latin1');
    expect(text).to.contain(`** Alert ${String(alerts()[1]?.['id'])}:`);
    expect(text).to.contain("Rule: 100200 (level 5) -> 'Door 2 opened.'");
  });

  it('tells agents of the active responses at its start and after a reload', async () => {
    const shared = (): string[] => readFileSync(home.path('etc/shared/ar.conf'), 'utf8').trimEnd().split('\n');
    await start();
    expect(shared()).to.have.length(6);
    const command = '<command><name>stop-door</name><executable>stop.sh</executable></command>';
    const response = '<command>stop-door</command><location>local</location><rules_id>100200</rules_id>';
    writeConfiguration(`${command}<active-response>${response}</active-response>`);
    expect(await client.call('ruleset.reload', {})).to.deep.equal({ error: 0, data: [] });
    expect(shared()[6]).to.equal('stop-door0 - stop.sh - 0');
  });

  it('shows an agent event under the agent', async () => {
    await start();
    const agent = { id: '004', name: 'web-02', ip: '10.0.0.24', labels: new Map([['site', 'north']]) };
    await producer.send(event(7, 'ann', { agent }));
    await analysed();
    expect(alerts()[0]).to.deep.include({ location: '/var/log/door.log' });
    expect(alerts()[0]?.['agent']).to.deep.equal({
      id: '004',
      name: 'web-02',
      ip: '10.0.0.24',
      labels: { site: 'north' },
    });
  });

  it('swaps the ruleset in the middle of a stream and keeps what composite rules have counted', async () => {
    await start();
    await producer.sendAll([event(1), event(2)]);
    await analysed();
    const sending = (async () => {
      for (let number = 1000; number < 3000; number += 1) {
        const one = event(number, `user${String(number)}`);
        while (!producer.trySend(one)) await producer.ready();
      }
    })();
    writeRules(rules(7));
    expect(await client.call('ruleset.reload', {})).to.deep.equal({ error: 0, data: [] });
    await sending;
    await producer.send(event(3));
    await analysed();
    const all = numbers();
    expect(all).to.have.length(2003);
    expect(new Set(all).size).to.equal(2003);
    const last = alerts().at(-1);
    expect(last).to.have.nested.property('rule.id', '100210');
    expect(alerts().some((alert) => (alert['rule'] as { level: number }).level === 7)).to.equal(true);
  });

  it('loses and doubles no event over reloads by bus and signal, of good and broken rulesets', async function () {
    this.timeout(RELOAD_EVENTS * 2);
    await start();
    const started = performance.now();
    // However fast it is, each quarter of the events waits for one more reload.
    const quarter = RELOAD_EVENTS / 4;
    let turns = 0;
    let turned = (): void => {};
    const sending = (async () => {
      for (let number = 0; number < RELOAD_EVENTS; number += 1) {
        while (turns < Math.floor(number / quarter)) await new Promise<void>((resolve) => (turned = resolve));
        const one = event(number, `user${String(number)}`);
        while (!producer.trySend(one)) await producer.ready();
      }
      await producer.send(event(RELOAD_EVENTS));
      return 'sent';
    })();
    let reloads = 0;
    let refused = 0;
    for (; ; turned()) {
      writeRules(rules([5, 7, 20][turns % 3] ?? 5));
      if (turns % 2 === 0) child?.kill('SIGHUP');
      const { error } = await client.call('ruleset.reload', {}, { deadlineMs: 60_000 });
      if (error === 0) reloads += 1;
      else refused += 1;
      turns += 1;
      const next = new Promise((resolve) => setTimeout(resolve, RELOAD_EVENTS / 200));
      if ((await Promise.race([sending, next])) === 'sent') break;
    }
    await analysed();
    const seconds = (performance.now() - started) / 1000;
    const times = new Uint8Array(RELOAD_EVENTS + 1);
    const levels = new Set<number>();
    for await (const line of createInterface(createReadStream(home.path('logs/alerts/alerts.json')))) {
      const alert = JSON.parse(line) as { rule: { level: number }; data: { door: { number: string } } };
      const number = Number(alert.data.door.number);
      times[number] = (times[number] ?? 0) + 1;
      levels.add(alert.rule.level);
    }
    expect(times.indexOf(0), 'a lost event').to.equal(-1);
    expect(
      times.findIndex((count) => count > 1),
      'a doubled event',
    ).to.equal(-1);
    expect([...levels].sort()).to.deep.equal([5, 7]);
    expect(reloads).to.be.greaterThan(1);
    expect(refused).to.be.greaterThan(0);
    if (RELOAD_EVENTS > 20_000) {
      console.log(
        `${String(RELOAD_EVENTS)} events, ${String(reloads)} reloads, ${String(refused)} refused, ${String(seconds)} s`,
      );
    }
  });

  it('keeps the ruleset in force when the new one is broken, and says why', async () => {
    await start();
    writeRules(rules(20));
    const answer = await client.call('ruleset.reload', {});
    expect(answer.error).to.equal(1);
    const place = '(ruleset/rules/door.xml:5)';
    expect(answer.data[0]).to.equal(`rules_op: Invalid level: 20. Must be an integer between 0 and 16. ${place}`);
    expect(await client.call('ruleset.check', {})).to.deep.equal({ errors: answer.data });
    await producer.send(event(1));
    await analysed();
    expect(numbers()).to.deep.equal(['1']);
    writeRules(rules(6));
    expect(await client.call('ruleset.check', {})).to.deep.equal({ errors: [] });
    writeRules(rules(20));
    expect(readFileSync(home.path('logs/manager.log'), 'utf8')).to.match(
      /Invalid level: 20.*ruleset\/rules\/door.xml:5/,
    );
    const failed = test();
    expect(failed.status).to.equal(1);
    const said = failed.stderr.trimEnd().split('\n');
    expect(said.filter((line) => line.includes('Invalid level: 20'))).to.have.length(1);
    expect(said[0]).to.match(/door\.xml:5/);
    expect(said.at(-1)).to.match(/CRITICAL: \(1220\): Error loading the rules: 'ruleset\/rules\/door\.xml'\.$/);
    writeRules(rules(5));
    writeFileSync(home.path('ruleset/decoders/door.xml'), '<decoder name="door"><regex>(</regex></decoder>');
    expect(test().stderr.trimEnd()).to.match(
      /CRITICAL: \(1202\): Configuration error at 'ruleset\/decoders\/door\.xml'\.$/,
    );
  });

  it('comes up with the last ruleset that loaded, and shows the problem', async () => {
    await start();
    await kill('SIGTERM');
    writeRules('<group name="x,"><rule id="1">');
    await start();
    await producer.send(event(1));
    await analysed();
    expect(numbers()).to.deep.equal(['1']);
    const record = JSON.parse(readFileSync(home.path('var/run/svc-analysisd.json'), 'utf8')) as { problem?: string };
    expect(record.problem).to.match(/^The ruleset does not load, the last one that did is in use: .*door\.xml/);
    writeRules(rules(9));
    expect((await client.call('ruleset.reload', {})).error).to.equal(0);
    await producer.send(event(2));
    await analysed();
    expect(alerts().at(-1)).to.have.nested.property('rule.level', 9);
  });

  it('exits 1 when no ruleset ever loaded', async () => {
    writeRules('<group name="x,"><rule id="1">');
    const started = spawn(process.execPath, [PROGRAM, '--home', home.root], { stdio: 'ignore' });
    const [code] = (await once(started, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(readFileSync(home.path('logs/manager.log'), 'utf8')).to.match(/CRITICAL: .*door\.xml/);
  });

  it('takes a request with an Idempotency-Key once', async () => {
    await start();
    const key = (index: number) => ({ idempotency: { key: 'k1', index } });
    await producer.sendAll([event(1, 'ann', key(0)), event(2, 'ann', key(1))]);
    await analysed();
    await producer.sendAll([event(1, 'ann', key(0)), event(2, 'ann', key(1))]);
    await analysed();
    expect(numbers()).to.deep.equal(['1', '2']);
  });

  it('runs logtest in sessions, over the bus and the local socket', async () => {
    await start();
    const ask = { event: 'Mar  7 09:15:02 gate doord[1]: opened by ann number 9', log_format: 'syslog', location: 'x' };
    const first = await client.call('logtest.run', ask);
    expect(first.error).to.equal(0);
    expect(first.data).to.have.nested.property('output.rule.id', '100200');
    expect(first.data).to.include({ alert: true, codemsg: 0 });
    const token = String(first.data['token']);
    expect(first.data['messages']).to.deep.equal([`INFO: (7202): Session initialized with token '${token}'`]);
    await client.call('logtest.run', { ...ask, token });
    const third = await client.call('logtest.run', { ...ask, token, options: { rules_debug: true } });
    expect(third.data).to.have.nested.property('output.rule.id', '100210');
    expect(third.data['rules_debug']).to.include('*Rule 100210 matched');
    expect(alerts(), 'nothing is written').to.deep.equal([]);

    writeRules(rules(13));
    expect((await client.call('logtest.run', ask)).data).to.have.nested.property('output.rule.level', 13);
    expect(await overSocket({ command: 'remove_session', parameters: { token } })).to.deep.equal({
      error: 0,
      data: { messages: [`INFO: (7206): The session '${token}' was closed successfully`], codemsg: 0 },
    });
    expect(await overSocket({ command: 'log_processing', parameters: { event: 'x' } })).to.deep.equal({
      message: "(7308): 'location' JSON field is required and must be a string",
      error: 2,
      data: {},
    });
    writeRules(rules(20));
    const refused = await client.call('logtest.run', ask);
    expect(refused.data['codemsg']).to.equal(-1);
    expect((refused.data['messages'] as string[]).at(-1)).to.equal('ERROR: (7311): Failure to initializing session');
  });

  async function overSocket(request: unknown): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(request));
    const header = Buffer.alloc(4);
    header.writeUInt32LE(body.length);
    const socket = connect(home.path('queue/sockets/logtest'));
    socket.write(Buffer.concat([header, body]));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return JSON.parse(Buffer.concat(chunks).subarray(4).toString()) as unknown;
  }

  it('takes a changed list and changed settings of the ruleset at a reload, in sessions too', async () => {
    const lookup = `<rule id="100220" level="9"><if_sid>100200</if_sid>
      <list field="user" lookup="match_key">etc/lists/people</list><description>Listed.</description></rule>`;
    const sections = '<ruleset><list>etc/lists/people</list></ruleset>';
    writeConfiguration(sections);
    writeFileSync(home.path('etc/lists/people'), 'bob:\n');
    writeRules(rules(5, lookup));
    await start();
    const last = () => (alerts().at(-1)!['rule'] as { id: string }).id;
    const ask = { event: event(1).message.toString(), log_format: 'syslog', location: 'x' };
    const tried = async () => (await client.call('logtest.run', ask)).data;
    await producer.send(event(1));
    await analysed();
    expect(last()).to.equal('100200');
    expect(await tried()).to.have.nested.property('output.rule.id', '100200');
    writeFileSync(home.path('etc/lists/people'), 'ann:\ndan:\nbob:\n');
    expect(await tried(), 'a session made after the change').to.have.nested.property('output.rule.id', '100220');
    await producer.send(event(2, 'dan'));
    await analysed();
    expect(last(), 'before the reload').to.equal('100200');
    expect(await client.call('ruleset.reload', {})).to.deep.equal({ error: 0, data: [] });
    await producer.send(event(3));
    await analysed();
    expect(last()).to.equal('100220');
    writeFileSync(home.path('etc/local_internal_options.conf'), 'analysisd.decoder_order_size=32\n');
    writeFileSync(
      home.path('ruleset/decoders/door.xml'),
      `<decoder name="door"><program_name>^doord$</program_name></decoder>
       <decoder name="d"><parent>door</parent><regex>${'(\\w)'.repeat(33)}</regex>
       <order>${Array.from({ length: 33 }, (_, i) => `f${String(i)}`).join(',')}</order></decoder>`,
    );
    expect((await tried())['codemsg'], 'too many fields for the new setting').to.equal(-1);
    writeFileSync(home.path('etc/local_internal_options.conf'), 'analysisd.decoder_order_size=64\n');
    expect((await tried())['codemsg']).to.equal(0);
  });

  it('names what of a changed configuration waits for a restart', async () => {
    await start();
    writeConfiguration('<global><logall>yes</logall></global>');
    writeFileSync(home.path('etc/local_internal_options.conf'), 'analysisd.state_interval=7\n');
    expect(await client.call('reload', {})).to.deep.equal({ restartNeeded: ['global', 'analysisd.state_interval'] });
    expect(readFileSync(home.path('logs/manager.log'), 'utf8')).to.contain(
      'These sections changed and take effect after a restart: global, analysisd.state_interval.',
    );
    // What others read, what a reload takes over, and what is as it was at the start again: nothing to restart for.
    writeFileSync(home.path('etc/local_internal_options.conf'), '');
    for (const text of [
      '<agents_disconnection_time>20m</agents_disconnection_time><white_list>10.0.0.1</white_list>',
      '<memory_size>4096</memory_size>',
    ]) {
      writeConfiguration(`<global><logall_json>yes</logall_json>${text}</global>`);
      expect(await client.call('reload', {}), text).to.deep.equal({ restartNeeded: [] });
    }
  });

  it('writes all logs, the firewall log and alerts in a form of the user', async () => {
    writeFileSync(
      home.path('ruleset/decoders/door.xml'),
      `${DECODERS}<decoder name="fw"><program_name>^fwd$</program_name><type>firewall</type></decoder>
<decoder name="fw-1"><parent>fw</parent><regex>^(\\w+) (\\w+) (\\S+):(\\d+) (\\S+):(\\d+)</regex>
<order>action,protocol,srcip,srcport,dstip,dstport</order></decoder>`,
    );
    writeConfiguration(
      '<global><logall>yes</logall><custom_alert_output>ALARM $RULEID level $RULELEVEL $FULLLOG</custom_alert_output></global>',
    );
    await start();
    await producer.sendAll([
      event(1),
      { ...event(2), message: Buffer.from('Mar  7 09:15:02 gate fwd: DROP tcp 10.1.2.3:1024 10.9.9.9:22') },
      { ...event(3), message: Buffer.from('nothing known') },
    ]);
    await analysed();
    const read = (path: string) => readFileSync(home.path(path), 'latin1');
    expect(read('logs/alerts/alerts.log')).to.contain(`ALARM 100200 level 5 ${event(1).message.toString()}`);
    expect(read('logs/archives/archives.log').trimEnd().split('\n')).to.have.length(3);
    expect(read('logs/firewall/firewall.log')).to.match(/^2\d{3} .*DROP tcp 10\.1\.2\.3:1024->10\.9\.9\.9:22\n$/);
    expect(existsSync(home.path('logs/archives/archives.json')), 'not asked for').to.equal(false);
  });

  it('hands alerts on as a stream with positions', async () => {
    await start();
    const { next: before } = await client.call('alerts.read', { after: 'end' });
    const waiting = client.call('alerts.read', { after: before, waitMs: 5000 }, { deadlineMs: 10_000 });
    await producer.sendAll([event(1), event(2)]);
    await analysed();
    const page = await waiting;
    expect(page.alerts.map((text) => JSON.parse(text) as unknown)).to.deep.equal(alerts());
    expect((await client.call('alerts.read', { after: page.next })).alerts).to.deep.equal([]);
    const error = await client.call('alerts.read', { after: { file: '../../x', offset: 0 } }).catch((e: unknown) => e);
    expect(error).to.have.property('code', 'bad_position');
  });

  it('goes on after kill -9: what was acknowledged is there, what was not is sent again', async () => {
    await start();
    await producer.sendAll([event(1), event(2, 'bob')]);
    await analysed();
    await kill();
    const pending = producer.send(event(3, 'eve'));
    rmSync(home.path('var/run/svc-analysisd.sock'), { force: true });
    await start();
    await pending;
    await analysed();
    expect(numbers()).to.deep.equal(['1', '2', '3']);
  });

  it('reports counters and statistics', async () => {
    await start();
    await producer.sendAll([event(1), event(2)]);
    await analysed();
    const statistics = await client.call('statistics.read', {});
    expect(statistics).to.have.nested.property('metrics.events.processed', 2);
    expect(statistics).to.have.nested.property('metrics.events.written_breakdown.alerts', 2);
    const agent = { id: '007', name: 'web', ip: '192.0.2.7', labels: undefined };
    await producer.sendAll([event(3, 'ann', { agent })]);
    await analysed();
    const written = (count: number) => ({ alerts: count, archives: count, firewall: 0 });
    const { agents, timestamp, uptime } = await client.call('statistics.agents', { ids: ['007', '008'] });
    expect(uptime).to.be.at.most(timestamp);
    expect(agents).to.deep.equal([
      { id: '007', metrics: { events: { received: 1, processed: 1, dropped: 0, written_breakdown: written(1) } } },
      { id: '008', metrics: { events: { received: 0, processed: 0, dropped: 0, written_breakdown: written(0) } } },
    ]);
    const active = await client.call('config', { section: 'alerts' });
    expect(active).to.deep.equal({ alerts: { email_alert_level: 7, log_alert_level: 3 } });
    expect((await client.call('rules.list', {})).rules.map((rule) => rule['id'])).to.deep.equal([1, 100200, 100210]);
  });

  it('checks a ruleset with -t', () => {
    const good = test();
    expect([good.status, good.stderr]).to.deep.equal([0, '']);
  });
});
