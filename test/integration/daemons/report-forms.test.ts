import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { copyShippedRuleset } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const product = (name: string) => fileURLToPath(new URL(name, productRoot()));
const REPORT = product('bin/svc-report');

const AGENT = { id: '007', name: 'web', ip: '10.0.0.7', labels: new Map([['site', 'berlin: north']]) };
const ssh = (text: string) => `Mar  7 09:15:02 web1 sshd[311]: ${text}`;

/** Alerts of all sorts: with and without address and user, of agents with labels, composite ones, files, logs of several lines. */
const EVENTS: readonly (Partial<BusEvent> & { readonly text: string })[] = [
  ...Array.from({ length: 9 }, (_, i) => ({
    text: ssh(`Failed password for root from 203.0.113.9 port ${String(40_000 + i)} ssh2`),
  })),
  { text: ssh('Failed password for invalid user Jörg from 2001:db8::7 port 41234 ssh2'), agent: AGENT },
  { text: ssh("Failed password for invalid user it's -> '' from 198.51.100.4 port 41234 ssh2"), agent: AGENT },
  { text: 'Nov 21 10:00:09 web1 su: FAILED SU (to root) bob on pts/0' },
  {
    text: `${ssh('Failed password for invalid user x from 192.0.2.7 port 1 ssh2')}\n\n** Alert of a log\nRule: 1\nUser: y`,
  },
  {
    text: JSON.stringify({
      type: 'event',
      data: {
        path: '/etc/demo file',
        version: '2.0',
        mode: 'scheduled',
        type: 'added',
        timestamp: 1_700_000_000,
        attributes: {
          type: 'file',
          size: 7,
          perm: 'rw-r--r--',
          uid: '0',
          gid: '0',
          user_name: 'root',
          group_name: 'root',
        },
      },
    }),
    queue: '8',
    location: 'syscheck',
  },
];

describe('svc-report on what svc-analysisd writes', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let daemon: RunningDaemon | undefined;
  let producer: EventProducer | undefined;

  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(async () => {
    await producer?.close(0);
    await daemon?.stop('SIGKILL');
    home.remove();
  });

  const run = (args: readonly string[], file: string) =>
    spawnSync(process.execPath, [REPORT, '--stdout', '-d', ...args], {
      input: readFileSync(home.path('logs/alerts', file)),
      encoding: 'utf8',
    });

  it('tells the same of alerts.log and of alerts.json', async () => {
    copyShippedRuleset(home);
    copyFileSync(product('etc/internal_options.conf'), home.path('etc/internal_options.conf'));
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config><ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir></ruleset>' +
        '<alerts><log_alert_level>1</log_alert_level></alerts></manager_config>\n',
    );
    daemon = await RunningDaemon.start('svc-analysisd', home);
    const sender = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer = sender;
    sender.start();
    for (const { text, ...more } of EVENTS) {
      const event = { queue: '1', location: '/var/log/auth.log', receivedAt: Date.now(), ...more };
      await eventually('there is room', () => sender.trySend({ ...event, message: Buffer.from(text) }));
    }
    await eventually('all are in the journal', () => sender.counters.acknowledged === EVENTS.length);
    await daemon.stop();
    const count = readFileSync(home.path('logs/alerts/alerts.json'), 'utf8').trimEnd().split('\n').length;
    expect(count).to.be.at.least(EVENTS.length);

    const args = ['-n', 'Both', '-r', 'srcip', 'user', '-r', 'rule', 'location', '-r', 'filename', 'level'];
    const ofJson = run(args, 'alerts.json');
    const ofText = run(args, 'alerts.log');
    expect([ofJson.status, ofJson.stderr]).to.deep.equal([
      0,
      `svc-report: ${String(count)} alerts were read (json).\n`,
    ]);
    expect([ofText.status, ofText.stderr]).to.deep.equal([
      0,
      `svc-report: ${String(count)} alerts were read (text).\n`,
    ]);
    // Groups that come as often may stand in another order: compliance has lists of its own in alerts.json.
    const sorted = (text: string) => text.split('\r\n').sort();
    expect(sorted(ofText.stdout)).to.deep.equal(sorted(ofJson.stdout));
    const lines = ofJson.stdout.split('\r\n');
    for (const heading of ['Source ip', 'Username', 'Level', 'Group', 'Location', 'Rule', 'Filenames']) {
      expect(lines).to.include(`Top entries for '${heading}':`);
    }
    expect(lines).to.include(`${'/etc/demo file'.padEnd(78)}|1       |`);
    expect(lines).to.include(`${'2001:db8::7'.padEnd(78)}|1       |`);
    expect(lines).to.include(`${'(web) 10.0.0.7->/var/log/auth.log'.padEnd(78)}|2       |`);
    expect(lines.filter((line) => line.startsWith('pci_dss_'))).not.to.deep.equal([]);
    for (const filter of [
      ['group', 'pci_dss_10'],
      ['location', '(web)'],
      ['level', '5'],
      ['filename', 'demo'],
      ['user', 'root'],
    ]) {
      const [json, text] = ['alerts.json', 'alerts.log'].map((file) => run(['-f', ...filter], file).stdout);
      expect(sorted(text ?? ''), filter.join(' ')).to.deep.equal(sorted(json ?? ''));
      expect(json, filter.join(' ')).to.match(/->Post-filtering alerts: [1-9]/);
    }
  });
});
