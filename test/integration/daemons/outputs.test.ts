import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { SmtpReceiver } from '../../support/monitord/smtp-receiver.js';
import { SyslogServer } from '../../support/monitord/syslog-server.js';
import { WebReceiver } from '../../support/monitord/web-receiver.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100201" level="5"><decoded_as>door</decoded_as><description>A door.</description></rule>
  <rule id="100202" level="12"><if_sid>100201</if_sid><match>loud</match><description>A loud door.</description></rule>
</group>`;
/** A program of integrations/: what it gets stands in logs/custom-door.log. It waits while it is told to. */
const PROGRAM = `#!/bin/sh
while [ -e tmp/hangs ]; do : > tmp/waits; sleep 0.02; done
if [ -e tmp/breaks ]; then echo what; exit 3; fi
cat "$1" >> logs/custom-door.log
`;
/** Most alerts that are on their way over a connection to a syslog receiver (promises.md). */
const MOST_IN_FLIGHT = 500;
/** Bytes of events of which a few are more than a receiver reads at once. */
const LONG = 20_000;
/** One event in so many is for the slower receivers, too. */
const LOUD_EVERY = 4;
const PATIENCE_MS = 60_000;

/** An event of a number, and whether a line of any form tells of it. */
const isLoud = (number: number): boolean => number % LOUD_EVERY === 0;
const textOf = (number: number): string =>
  `Mar  7 09:15:02 gate doord[1]: number ${String(number)} ${isLoud(number) ? 'loud' : 'quiet'}`;
const numberIn = (text: string): number => Number(/doord\[1\]: number (\d+) (?:loud|quiet)/.exec(text)?.[1]);

/** Numbers that came more than once, each as often as it came too many times. */
function repeats(numbers: readonly number[]): number[] {
  const seen = new Set<number>();
  return numbers.filter((number) => seen.size === seen.add(number).size);
}

describe('outputs of alerts, from the event to the receivers', function () {
  this.timeout(120_000);
  const home = new TemporaryHome();
  const syslog = new SyslogServer();
  const web = new WebReceiver();
  const smtp = new SmtpReceiver();
  let ports = { syslog: 0, web: 0, smtp: 0 };
  /** Bodies of posts that the receiver took, whether it said so or not. */
  const posted: unknown[] = [];
  const monitord = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
  const running = new Map<DaemonName, RunningDaemon>();
  /** Events so far; each is acknowledged before anything is judged. */
  let sent = 0;
  /** Kills of svc-monitord, and connections to the syslog receiver that were the last one at each. */
  const lastAtKill: number[] = [];
  const program = home.path('integrations', 'custom-door');
  const acts = (how: 'hangs' | 'breaks') => home.path('tmp', how);

  before(async () => {
    await Promise.all([syslog.start(), web.start(), smtp.start()]);
    ports = { syslog: syslog.port, web: web.port, smtp: smtp.port };
    takeAll();
    for (const directory of ['queue/outputs', 'queue/responses', 'logs/alerts', 'integrations']) {
      mkdirSync(home.path(directory), { recursive: true, mode: 0o750 });
    }
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeFileSync(home.path('ruleset/rules/door.xml'), RULES);
    writeFileSync(program, PROGRAM, { mode: 0o750 });
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'maild.grouping=0\n');
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
<global><email_notification>yes</email_notification><email_maxperhour>1000000</email_maxperhour><email_to>ops@x.test</email_to>
<email_from>mgr@x.test</email_from><smtp_server>127.0.0.1</smtp_server><smtp_port>${String(ports.smtp)}</smtp_port></global>
<syslog_output><server>127.0.0.1</server><port>${String(ports.syslog)}</port><protocol>tcp</protocol><format>json</format></syslog_output>
<integration><name>custom-door</name><rule_id>100202</rule_id><alert_format>json</alert_format></integration>
<integration><name>webhook</name><hook_url>${web.url}</hook_url><level>12</level></integration>
</manager_config>\n`,
    );
    await start('svc-analysisd', 'svc-monitord');
    producer.start();
  });
  after(async () => {
    rmSync(acts('hangs'), { force: true });
    await producer.close(0);
    monitord.close();
    for (const daemon of running.values()) await daemon.stop('SIGKILL');
    await Promise.all([syslog.stop(), web.stop(), smtp.stop()]);
    home.remove();
  });

  async function start(...names: DaemonName[]): Promise<void> {
    for (const name of names) running.set(name, await RunningDaemon.start(name, home));
    if (!names.includes('svc-monitord')) return;
    const { outputs } = await monitord.call('stats', {});
    expect(Object.keys(outputs as object), 'outputs that have begun when it is ready').to.have.length(4);
  }
  async function kill(name: DaemonName): Promise<void> {
    await running.get(name)?.stop('SIGKILL');
    // Connections that the system has accepted are known behind this.
    await new Promise((resolve) => setImmediate(resolve));
    if (name === 'svc-monitord') lastAtKill.push(syslog.connections.length - 1);
  }
  /** So many events as producers send them; resolves when they are acknowledged. */
  async function send(count: number, more = ''): Promise<void> {
    const acknowledged = Array.from({ length: count }, () => {
      sent += 1;
      const message = Buffer.from(textOf(sent) + more);
      return producer.send({ queue: '1', location: '/var/log/door.log', message, receivedAt: Date.now() });
    });
    await Promise.all(acknowledged);
  }
  /** Whether svc-monitord has nothing to mail, and remembers so. */
  const mailIsIdle = async (): Promise<boolean> => {
    const { outputs } = await monitord.call('stats', {});
    const { waiting, lag } = (outputs as Record<string, { waiting: number; lag: { bytes: number } }>)['mail'] ?? {};
    return waiting === 0 && lag?.bytes === 0 && (missing()['mail'] ?? []).length === 0;
  };
  const lines = (...path: string[]): string[] =>
    existsSync(home.path(...path))
      ? readFileSync(home.path(...path), 'utf8')
          .trimEnd()
          .split('\n')
      : [];
  const programGot = () => lines('logs', 'custom-door.log');

  /** Numbers of the alerts that each receiver has, in the order in which they came. */
  const arrived = () => ({
    syslog: syslog.messages.map(numberIn),
    program: programGot().map(numberIn),
    webhook: posted.map((body) => numberIn(JSON.stringify(body))),
    mail: smtp.mails.map(({ message }) => numberIn(message)),
  });
  const wanted = (loud: boolean): number[] =>
    Array.from({ length: sent }, (_, i) => i + 1).filter((number) => !loud || isLoud(number));
  const missing = (): Record<string, number[]> =>
    Object.fromEntries(
      Object.entries(arrived()).map(([name, numbers]) => {
        const there = new Set(numbers);
        return [name, wanted(name !== 'syslog').filter((number) => !there.has(number))];
      }),
    );
  async function allArrived(): Promise<void> {
    try {
      await eventually(
        'alerts arrive',
        () => Object.values(missing()).every((numbers) => numbers.length === 0),
        PATIENCE_MS,
      );
    } catch {
      expect(missing()).to.deep.equal({ syslog: [], program: [], webhook: [], mail: [] });
    }
  }
  const twice = () => Object.fromEntries(Object.entries(arrived()).map(([name, numbers]) => [name, repeats(numbers)]));
  const NONE = { syslog: [], program: [], webhook: [], mail: [] };

  function takeAll(): void {
    syslog.behave('takes');
    smtp.replies.clear();
    web.answer = ({ body }, response) => {
      posted.push(body);
      response.end('ok');
    };
    for (const how of ['hangs', 'breaks'] as const) rmSync(acts(how), { force: true });
  }
  /** Lines of the log that an output went away, and that it came back. */
  const told = (): [string, number, number][] => {
    const log = lines('logs', 'manager.log');
    const count = (text: string): number => log.filter((line) => line.includes(text)).length;
    return [
      ...[`syslog 127.0.0.1:${String(ports.syslog)}/tcp`, 'integration custom-door', 'integration webhook'].map(
        (name): [string, number, number] => [
          name,
          count(`Alerts are not delivered to '${name}' for now`),
          count(`Alerts are delivered to '${name}' again.`),
        ],
      ),
      ['mail', count('Mail is not sent for now'), count('Mail is sent again.')],
    ];
  };
  async function allTold(away: number, back: number): Promise<void> {
    await eventually('the log says it', () => told().every(([, gone, again]) => gone >= away && again >= back)).catch(
      () => {},
    );
    for (const [name, ...times] of told()) expect(times, name).to.deep.equal([away, back]);
  }

  it('brings each alert to each receiver, once, also when svc-analysisd is killed', async () => {
    const sending = send(40);
    await eventually('some arrive', () => syslog.messages.length > 0, PATIENCE_MS);
    await kill('svc-analysisd');
    await start('svc-analysisd');
    await sending;
    await allArrived();
    expect(twice()).to.deep.equal(NONE);
    // What arrives is the alert as it is written, whole.
    const alerts = new Map(lines('logs', 'alerts', 'alerts.json').map((line) => [numberIn(line), line]));
    for (const message of syslog.messages) {
      expect(message.slice(message.indexOf('{'))).to.equal(alerts.get(numberIn(message)));
    }
    for (const line of programGot()) expect(line).to.equal(alerts.get(numberIn(line)));
    for (const body of posted) {
      expect(body).to.deep.equal(JSON.parse(alerts.get(numberIn(JSON.stringify(body))) ?? ''));
    }
    expect(told().flatMap(([, ...times]) => times)).to.deep.equal(Array(8).fill(0));
  });

  it('has them wait while receivers are away, says so once, and that they are back', async () => {
    await Promise.all([syslog.stop(), web.stop(), smtp.stop()]);
    renameSync(program, `${program}.away`);
    await send(20);
    await allToldGone(1);
    await kill('svc-analysisd');
    await Promise.all([syslog.start(ports.syslog), web.start(ports.web), smtp.start(ports.smtp)]);
    renameSync(`${program}.away`, program);
    await start('svc-analysisd');
    await send(20);
    await allArrived();
    await allTold(1, 1);
    expect(twice()).to.deep.equal(NONE);
  });

  it('repeats what is answered with something that is no answer', async () => {
    syslog.behave('breaks');
    smtp.replies.set('MAIL', 'what?');
    web.answer = (_post, response) => response.socket?.end('what?\r\n\r\n');
    writeFileSync(acts('breaks'), '');
    await send(20, ` ${'x'.repeat(LONG)}`);
    await allToldGone(2);
    takeAll();
    await allArrived();
    await allTold(2, 2);
    // The connection broke when some were taken already: those come again.
    const { syslog: again, ...others } = twice();
    expect(others).to.deep.equal({ program: [], webhook: [], mail: [] });
    const broken = new Set(syslog.connections.flatMap(({ broken: by, messages }) => (by ? messages : [])));
    expect([...broken].map(numberIn)).to.include.members(again ?? []);
  });

  it('sends twice what was on its way when svc-monitord was killed, and no more', async () => {
    const before = Object.fromEntries(Object.entries(twice()).map(([name, numbers]) => [name, numbers.length]));
    const connections = syslog.connections.length;
    syslog.behave('hangs');
    writeFileSync(acts('hangs'), '');
    // It takes the alert and says nothing of it.
    web.answer = ({ body }) => posted.push(body);
    const posts = posted.length;
    await send(MOST_IN_FLIGHT / 2);
    await eventually('a connection hangs', () => syslog.connections.length > connections, PATIENCE_MS);
    await eventually('a post is not answered', () => posted.length > posts, PATIENCE_MS);
    await eventually('a program waits', () => existsSync(home.path('tmp', 'waits')), PATIENCE_MS);
    await eventually('all mails are sent, and noted', mailIsIdle, PATIENCE_MS);
    await kill('svc-monitord');
    takeAll();
    await start('svc-monitord');
    await allArrived();
    await eventually('the program that waited has ended', () => (twice()['program']?.length ?? 0) > 0, PATIENCE_MS);
    const after = Object.fromEntries(
      Object.entries(twice()).map(([name, numbers]) => [name, numbers.length - (before[name] ?? 0)]),
    );
    expect(after).to.deep.include({ program: 1, webhook: 1, mail: 0 });
    expect(after['syslog']).to.be.at.most(MOST_IN_FLIGHT);
    // As many as had left svc-monitord.
    expect(after['syslog']).to.equal(syslog.connections[connections]?.messages.length);
  });

  it('loses none and doubles only what was on its way, whenever it is killed', async () => {
    const moments: (() => number)[] = [
      () => syslog.messages.length,
      () => posted.length,
      () => smtp.mails.length,
      () => programGot().length,
    ];
    for (const [round, count] of moments.entries()) {
      const reached = count() + 1 + round;
      const sending = send(60);
      await eventually('some arrive', () => count() >= reached, PATIENCE_MS);
      await kill('svc-monitord');
      if (round % 2 === 1) await kill('svc-analysisd');
      await start('svc-monitord', ...(round % 2 === 1 ? (['svc-analysisd'] as const) : []));
      await sending;
    }
    await allArrived();
    const kills = lastAtKill.length;
    const { program: byProgram = [], webhook = [], mail = [], syslog: bySyslog = [] } = twice();
    expect(kills).to.equal(5);
    // One at a time, so one for each kill.
    expect(byProgram.length).to.be.at.most(kills);
    expect(webhook.length).to.be.at.most(kills);
    expect(mail.length).to.be.at.most(kills);
    for (const number of mail) {
      const ids = smtp.mails.filter(({ message }) => numberIn(message) === number).map(({ message }) => idOf(message));
      expect(new Set(ids).size, `mails about number ${String(number)}`).to.equal(1);
    }
    // A connection for each kill, or for each that broke.
    const inFlight = syslog.connections.filter(({ broken }, i) => broken || lastAtKill.includes(i));
    expect(inFlight.flatMap(({ messages }) => messages).map(numberIn)).to.include.members(bySyslog);
    for (const { messages } of syslog.connections) expect(messages.length).to.be.at.most(MOST_IN_FLIGHT);
    expect(syslog.problems).to.deep.equal([]);
  });

  async function allToldGone(times: number): Promise<void> {
    await eventually('the log says it', () => told().every(([, gone]) => gone >= times)).catch(() => {});
    for (const [name, gone] of told()) expect(gone, name).to.equal(times);
  }
  const idOf = (message: string) => /^Message-ID: (.*)$/im.exec(message)?.[1];
});
