import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { StrictIndexer } from '../../support/monitord/strict-indexer.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DECODERS = `<decoder name="json"><prematch>^{</prematch><plugin_decoder>JSON_Decoder</plugin_decoder></decoder>`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100201" level="5"><decoded_as>json</decoded_as><field name="door">loud</field><description>A door.</description></rule>
</group>`;
const PATIENCE_MS = 30_000;
const DOOR = 'door.log';
/** One event in so many makes an alert; all are in the archives. */
const LOUD_EVERY = 2;

/** A document as it is in the index, without what indexing adds. */
function lineOf({ '@timestamp': time, input, ...alert }: Record<string, unknown>): string {
  expect(input).to.deep.equal({ type: 'log' });
  expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return JSON.stringify(alert);
}

describe('alerts and archives in a search engine, from the event to the index', function () {
  this.timeout(120_000);
  const home = new TemporaryHome();
  const indexer = new StrictIndexer();
  const monitord = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
  const running = new Map<DaemonName, RunningDaemon>();
  let sent = 0;

  before(async () => {
    await indexer.start();
    for (const directory of ['queue/outputs', 'queue/responses', 'logs/alerts', 'logs/archives']) {
      mkdirSync(home.path(directory), { recursive: true, mode: 0o750 });
    }
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeFileSync(home.path('ruleset/rules/door.xml'), RULES);
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config><global><logall_json>yes</logall_json></global><indexer><enabled>yes</enabled>
<hosts><host>${indexer.url}</host></hosts>
<options><alerts>yes</alerts><archives>yes</archives><states>no</states><batch_size>50</batch_size></options></indexer></manager_config>\n`,
    );
    await start('svc-analysisd', 'svc-monitord');
    producer.start();
  });
  after(async () => {
    await producer.close(0);
    monitord.close();
    for (const daemon of running.values()) await daemon.stop('SIGKILL');
    await indexer.stop();
    home.remove();
  });

  const outputs = async () => (await monitord.call('stats', {}))['outputs'] as Record<string, Record<string, unknown>>;
  async function start(...names: DaemonName[]): Promise<void> {
    for (const name of names) running.set(name, await RunningDaemon.start(name, home));
    if (names.includes('svc-monitord')) {
      await eventually('the outputs have begun', async () => Object.keys(await outputs()).length === 2);
    }
  }
  const kill = async (name: DaemonName) => running.get(name)?.stop('SIGKILL');
  async function send(count: number, more: object = {}): Promise<void> {
    const acknowledged = Array.from({ length: count }, () => {
      sent += 1;
      const message = Buffer.from(JSON.stringify({ door: sent % LOUD_EVERY === 0 ? 'loud' : 'quiet', sent, ...more }));
      return producer.send({ queue: '1', location: '/var/log/door.log', message, receivedAt: Date.now() });
    });
    await Promise.all(acknowledged);
  }
  /** Lines of all dated files of a stream. */
  const lines = (stream: 'alerts' | 'archives'): string[] =>
    readdirSync(home.path('logs', stream), { recursive: true, encoding: 'utf8' })
      .filter((name) => /^\d{4}\/.*\.json$/.test(name))
      .flatMap((name) =>
        readFileSync(join(home.path('logs', stream), name), 'utf8')
          .trimEnd()
          .split('\n')
          .filter((line) => line.includes(DOOR)),
      );
  /** svc-monitord tells of its own starts, which are not ours. */
  const documents = (stream: 'alerts' | 'archives') =>
    [...indexer.documents(`wazuh-${stream}-4.x-`).values()].filter((one) => JSON.stringify(one).includes(DOOR));
  const rejected = () => readFileSync(home.path('logs', 'indexer-rejected.json'), 'utf8').trimEnd().split('\n');
  const count = (stream: 'alerts' | 'archives') => documents(stream).length;

  async function allIndexed(): Promise<void> {
    const counts = () => ({ alerts: count('alerts'), archives: count('archives') });
    const wanted = { alerts: Math.floor(sent / LOUD_EVERY), archives: sent };
    const isThere = () => count('archives') === wanted.archives && count('alerts') === wanted.alerts;
    await eventually('all are indexed', isThere, PATIENCE_MS).catch(() => {});
    expect(counts()).to.deep.equal(wanted);
  }

  it('has each once, as it is written', async () => {
    await send(200);
    await allIndexed();
    for (const stream of ['alerts', 'archives'] as const) {
      expect(documents(stream).map(lineOf)).to.have.members(
        lines(stream).map((line) => JSON.stringify(JSON.parse(line))),
      );
    }
    expect(indexer.violations).to.deep.equal([]);
  });

  it('has each once when it is away, answers nonsense and has too much to do, and daemons are killed', async () => {
    await indexer.stop();
    await send(150);
    await kill('svc-monitord');
    await start('svc-monitord');
    await send(50);
    indexer.faults.push('close_after', 'garbage', 429, { items: [201, 503, 429] }, 503, 'close_after');
    await indexer.start();
    await eventually('some are indexed', () => count('archives') > 200, PATIENCE_MS);
    await kill('svc-monitord');
    const sending = send(200);
    await kill('svc-analysisd');
    await start('svc-analysisd', 'svc-monitord');
    await sending;
    await allIndexed();
    indexer.faults.length = 0;
    expect(indexer.violations).to.deep.equal([]);
    for (const stream of ['alerts', 'archives'] as const) {
      expect(documents(stream).map(lineOf)).to.have.members(
        lines(stream).map((line) => JSON.stringify(JSON.parse(line))),
      );
    }
  });

  it('has what it refuses in another form, and the others behind it', async () => {
    await send(2, { timestamp: 'yesterday' });
    await send(200);
    await allIndexed();
    const reduced = [...indexer.documents().values()].filter((document) => 'data_raw' in document);
    expect(reduced).to.have.length(1);
    expect(JSON.parse(String(reduced[0]?.['data_raw']))).to.include({ timestamp: 'yesterday', door: 'loud' });
    await eventually('it is counted', async () => (await outputs())['indexer']?.['reduced'] === 1);
    // The archives have both.
    await eventually('they are in the file', () => rejected().length === 3);
    for (const line of rejected()) {
      const { type, indexed, alert } = JSON.parse(line) as Record<string, string>;
      expect({ type, indexed }).to.deep.equal({ type: 'mapper_parsing_exception', indexed: 'reduced' });
      expect(alert).to.include('yesterday');
    }
  });
});
