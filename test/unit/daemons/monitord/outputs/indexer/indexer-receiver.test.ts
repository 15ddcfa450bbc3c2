import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { AlertConsumer } from '../../../../../../daemons/monitord/outputs/alert-consumer.js';
import { indexerOutputs, indexerProblems } from '../../../../../../daemons/monitord/outputs/indexer/indexer-output.js';
import { OutputStore } from '../../../../../../daemons/monitord/outputs/output-store.js';
import { pause } from '../../../../../../lib/async/pause.js';
import { loadManagerConfig } from '../../../../../../lib/config/load-manager-config.js';
import { writeIndexerSecret } from '../../../../../../lib/indexer/indexer-secret.js';
import { AlertFeed } from '../../../../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../../../../lib/output/dated-files.js';
import { RecordStream } from '../../../../../../lib/output/record-stream.js';
import { eventually } from '../../../../../support/eventually.js';
import { AlertFiles, sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { StrictIndexer, type StrictIndexerOptions } from '../../../../../support/monitord/strict-indexer.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../../support/temporary-home.js';
import { type TestCertificate, testCertificate } from '../../../../../support/tls/test-certificates.js';

const ACCOUNT = { username: 'admin', password: 'se=cr:et' };
const alert = (n: number, changes: Record<string, unknown> = {}) =>
  sampleAlert({ id: `1749118283.${String(n)}`, ...changes });
const count = (n: number, from = 0) => Array.from({ length: n }, (_, i) => alert(from + i));

describe('alerts in an index', () => {
  let home: TemporaryHome;
  let files: AlertFiles;
  let stream: RecordStream;
  let store: OutputStore;
  let logger: RecordingLogger;
  let indexer: StrictIndexer;
  let running: AlertConsumer[];
  let waits: number[];

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path('logs', 'alerts'));
    files = new AlertFiles(home.path('logs', 'alerts'));
    stream = new RecordStream({ directory: home.path('logs', 'alerts'), ...ALERT_FILES });
    store = await OutputStore.open(home.path('queue', 'outputs'));
    logger = new RecordingLogger();
    running = [];
    waits = [];
    await serve();
    secret(ACCOUNT);
  });
  afterEach(async () => {
    await Promise.all(running.map((consumer) => consumer.stop()));
    await indexer.stop();
    await store.close();
    stream.close();
    files.close();
    home.remove();
  });

  async function serve(options: StrictIndexerOptions = {}): Promise<void> {
    if (indexer?.url !== undefined) await indexer.stop();
    indexer = new StrictIndexer({ account: ACCOUNT, ...options });
    await indexer.start();
  }
  const secret = (account: { username: string; password: string }): void => {
    writeIndexerSecret(home.path('etc', 'indexer.secret'), account, { uid: 0, gid: 0 });
  };

  function config(options = '', { hosts = [indexer.url], ssl = '' } = {}) {
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<ossec_config><indexer><enabled>yes</enabled><hosts>${hosts.map((host) => `<host>${host}</host>`).join('')}</hosts>
        <ssl>${ssl}</ssl><options><alerts>yes</alerts>${options}</options></indexer></ossec_config>`,
    );
    return loadManagerConfig(home, ['global', 'indexer', 'cluster']);
  }

  async function start(...options: Parameters<typeof config>): Promise<AlertConsumer> {
    const sleep = (milliseconds: number, signal: AbortSignal) => {
      waits.push(milliseconds);
      return pause(Math.min(milliseconds, 2), signal);
    };
    const [definition] = indexerOutputs(config(...options), { home, logger, sleep });
    if (definition === undefined) throw new Error('there is no output');
    const consumer = new AlertConsumer({
      key: definition.key,
      name: definition.name,
      feed: new AlertFeed({
        stream,
        liveFile: home.path('logs', 'alerts', 'alerts.json'),
        log: logger.limited(),
        lookMs: 2,
      }),
      store,
      receiver: definition.receiver(store),
      logger,
      sleep,
    });
    running.push(consumer);
    await consumer.start();
    return consumer;
  }

  const ids = (): string[] => [...indexer.documents().values()].map(({ id }) => String(id)).sort();
  const expected = (...alerts: Record<string, unknown>[]): string[] => alerts.map(({ id }) => String(id)).sort();
  const rejected = (): Record<string, unknown>[] => {
    const path = home.path('logs', 'indexer-rejected.json');
    if (!existsSync(path)) return [];
    // What is behind the last line end is being written.
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const indexed = (n: number) => eventually(`${String(n)} are indexed`, () => indexer.documents().size === n);
  const logged = (text: string) => eventually(text, () => logger.lines.some((line) => line.includes(text)));

  it('are there once each, behind the template', async () => {
    const consumer = await start();
    files.write(...count(1200));
    await indexed(1200);
    expect(ids()).to.deep.equal(expected(...count(1200)));
    expect([...indexer.indices.keys()]).to.deep.equal(['wazuh-alerts-4.x-2025.06.05']);
    expect(indexer.templates.get('wazuh')).to.deep.include({ version: 1, order: 0 });
    expect(indexer.violations).to.deep.equal([]);
    await eventually('it is counted', () => consumer.stats().delivered === 1200);
    expect(consumer.stats()).to.include({ rejected: 0, failed: 0, reduced: 0, available: true, available_hosts: 1 });
    expect(indexer.bulks.every(({ path }) => path === '/_bulk')).to.equal(true);
  });

  it('leave a template of a site alone', async () => {
    const own = { version: 7, order: 0, index_patterns: ['wazuh-alerts-4.x-*'], settings: {}, mappings: {} };
    indexer.templates.set('wazuh', own);
    await start();
    files.write(alert(1));
    await indexed(1);
    expect(indexer.templates.get('wazuh')).to.equal(own);
  });

  it('come when a server that was away is back, and are told of once', async () => {
    await start();
    files.write(alert(1));
    await indexed(1);
    await indexer.stop();
    files.write(...count(20, 2));
    await logged("warn: Alerts are not delivered to 'indexer' for now: ");
    indexer.health = 'red';
    await indexer.start();
    indexer.health = 'yellow';
    await indexed(21);
    await logged("info: Alerts are delivered to 'indexer' again.");
    expect(logger.lines.filter((line) => line.startsWith('warn:'))).to.have.length(1);
  });

  for (const fault of ['close', 'close_after', 'garbage', 400, 413, 429, 500, 503] as const) {
    it(`are there once each when a request ends with ${String(fault)}`, async () => {
      await start('<batch_size>10</batch_size>');
      indexer.faults.push(fault, fault);
      files.write(...count(30));
      await indexed(30);
      expect(ids()).to.deep.equal(expected(...count(30)));
      expect(indexer.violations).to.deep.equal([]);
      expect(rejected()).to.deep.equal([]);
    });
  }

  it('are sent again one by one where the server has too much to do', async () => {
    const consumer = await start();
    indexer.faults.push({ items: [201, 429, 201, 503] }, { items: [429] });
    files.write(...count(5));
    await indexed(5);
    expect(indexer.bulks.map((bulk) => bulk.count)).to.deep.equal([5, 2, 1]);
    await eventually('it is counted', () => consumer.stats().delivered === 5);
    expect(consumer.stats()).to.include({ throttled: 3, failed: 0 });
  });

  it('are indexed with data as one text where it is refused, and kept in a file', async () => {
    const consumer = await start();
    const poison = [
      alert(1, { data: { timestamp: 'yesterday' } }),
      alert(2, { data: { aws: { start: '' } } }),
      alert(3, { data: { '': 'x' } }),
      alert(4, { rule: { level: 'high', id: '1' } }),
    ];
    files.write(alert(0), ...poison, ...count(500, 5));
    await indexed(504);
    expect(ids()).to.not.include('1749118283.4');
    const found = [...indexer.documents().values()].find(({ id }) => id === '1749118283.1');
    expect(found).to.deep.include({ data_raw: '{"timestamp":"yesterday"}' });
    await eventually('they are dealt with', () => consumer.stats().lag.bytes === 0);
    expect(rejected().map((entry) => [entry['alert'], entry['indexed'], entry['type']])).to.have.deep.members([
      ...poison.slice(0, 3).map((one) => [JSON.stringify(one), 'reduced', 'mapper_parsing_exception']),
      [JSON.stringify(poison[3]), 'no', 'mapper_parsing_exception'],
    ]);
    expect(consumer.stats()).to.include({ delivered: 504, rejected: 1, reduced: 3, failed: 0 });
    await logged("An alert for 'indexer' was passed over: it is in logs/indexer-rejected.json");
    expect(logger.lines.join('\n')).to.include('(id 1749118283.4)');
  });

  it('are kept in a file, and counted once, when a request behind them fails', async () => {
    const consumer = await start('<batch_size>2048</batch_size>');
    await indexer.stop();
    // More than one request takes: the second one breaks.
    const large = count(1500, 10).map((one) => ({ ...one, full_log: 'x'.repeat(5000) }));
    files.write(
      '{"rule":{}}',
      alert(1, { data: { timestamp: 'yesterday' } }),
      alert(2, { rule: { level: 'high' } }),
      ...large,
    );
    indexer.afterBulks = 1;
    indexer.faults.push('close', 'close');
    await indexer.start();
    await indexed(1501);
    await eventually('they are dealt with', () => consumer.stats().lag.bytes === 0);
    expect(indexer.faults).to.deep.equal([]);
    expect(
      rejected()
        .map(({ indexed: how, reason }) => `${String(how)} ${String(reason)}`)
        .sort(),
    ).to.deep.equal([
      'no failed to parse field [rule.level] of type [long]',
      'no its timestamp is no time',
      'reduced failed to parse field [data.timestamp] of type [date]',
    ]);
    expect(consumer.stats()).to.include({ rejected: 2, reduced: 1, delivered: 1501 });
  });

  it('are kept in a file when they are no alerts', async () => {
    await start();
    files.write('{"timestamp":"2025-06-05T10:11:23.123+0000","rule"', '{"rule":{}}', alert(1));
    await indexed(1);
    await eventually('they are in the file', () => rejected().length === 2);
    expect(rejected().map(({ reason }) => reason)).to.have.members(['its timestamp is no time', 'the line is no JSON']);
  });

  it('go in smaller requests to a server that takes no larger ones', async () => {
    await serve({ maxBytes: 4000 });
    const consumer = await start();
    files.write(...count(40), alert(40, { full_log: 'x'.repeat(5000) }), ...count(10, 41));
    await indexed(50);
    expect(Math.max(...indexer.bulks.map(({ bytes }) => bytes))).to.be.most(4000);
    expect(ids()).to.not.include('1749118283.40');
    await eventually('it is in the file', () => rejected().length === 1);
    expect(consumer.stats()).to.include({ rejected: 1 });
  });

  it('wait for a right password, and nobody is locked out by tries', async () => {
    secret({ ...ACCOUNT, password: 'wrong' });
    const consumer = await start();
    files.write(alert(1));
    await logged("Alerts are not delivered to 'indexer' for now: ");
    await eventually('it is tried again', () => consumer.stats().failed >= 5);
    // Whoever goes on with a wrong password is locked out.
    expect(indexer.requests).to.equal(1);
    secret(ACCOUNT);
    await indexed(1);
    expect(logger.lines.join('\n')).to.not.include(ACCOUNT.password).and.not.include('wrong');
  });

  it('go over TLS to a server whose certificate is known, with a certificate of their own', async () => {
    const authority = testCertificate({ commonName: 'authority' });
    const other = testCertificate({ commonName: 'other' });
    const server = testCertificate({ commonName: '127.0.0.1', ips: ['127.0.0.1'], issuer: authority });
    const client = testCertificate({ commonName: 'manager', issuer: authority });
    await serve({ tls: { ...server, clientCa: authority.cert } });
    const write = (name: string, { cert, key }: TestCertificate): void => {
      writeFileSync(home.path('etc', `${name}.pem`), cert);
      writeFileSync(home.path('etc', `${name}.key`), key);
    };
    for (const [name, certificate] of Object.entries({ authority, other, client })) write(name, certificate);
    const ssl = (name: string) =>
      `<certificate_authorities><ca>etc/${name}.pem</ca></certificate_authorities>` +
      '<certificate>etc/client.pem</certificate><key>etc/client.key</key>';
    const consumer = await start('', { ssl: ssl('other') });
    files.write(alert(1));
    await logged("Alerts are not delivered to 'indexer' for now: No available server: 127.0.0.1");
    expect(indexer.requests).to.equal(0);
    await consumer.stop();
    await start('', { ssl: ssl('authority') });
    await indexed(1);
  });

  it('go to the next host when one is away', async () => {
    const other = new StrictIndexer({ account: ACCOUNT });
    await other.start();
    try {
      await start('<batch_size>5</batch_size>', { hosts: [indexer.url, other.url] });
      files.write(...count(20));
      await eventually('both take some', () => indexer.documents().size === 10 && other.documents().size === 10);
      await other.stop();
      files.write(...count(20, 20));
      await indexed(30);
    } finally {
      await other.stop();
    }
  });

  it('have the place of their addresses looked up where the server can', async () => {
    await serve({ geoip: true });
    await start('<geoip>pipeline</geoip>');
    files.write(alert(1));
    await indexed(1);
    expect(indexer.bulks.map(({ path }) => path)).to.deep.equal(['/_bulk?pipeline=security-manager-geoip']);
    const { processors } = indexer.pipelines.get('security-manager-geoip') as { processors: { geoip: object }[] };
    expect(processors).to.have.length(10);
    expect(processors[0]?.geoip).to.deep.include({
      field: 'data.srcip',
      target_field: 'GeoLocation',
      ignore_missing: true,
    });
  });

  it('are indexed without where it cannot', async () => {
    await start('<geoip>pipeline</geoip>');
    files.write(alert(1));
    await indexed(1);
    expect(indexer.bulks.map(({ path }) => path)).to.deep.equal(['/_bulk']);
    await logged('warn: Alerts are indexed without the place of their addresses: 400 parse_exception');
  });

  it('are taken for indexed by an account that may not ask for the health', async () => {
    indexer.health = 403;
    await start();
    files.write(alert(1));
    await indexed(1);
    expect(logger.lines.filter((line) => line.includes('cluster:monitor/health'))).to.have.length(1);
  });

  it('stop at once, and go on where they were', async () => {
    const consumer = await start();
    indexer.faults.push('hang');
    files.write(...count(3));
    await eventually('a request is under way', () => indexer.faults.length === 0);
    await consumer.stop();
    expect(indexer.documents().size).to.equal(0);
    await start();
    await indexed(3);
  });

  it('wait for certificates that cannot be read, and are indexed when they can', async () => {
    const authority = testCertificate({ commonName: 'authority' });
    await serve({ tls: testCertificate({ commonName: '127.0.0.1', ips: ['127.0.0.1'], issuer: authority }) });
    const ssl = '<certificate_authorities><ca>etc/ca.pem</ca></certificate_authorities>';
    expect(indexerProblems(config('', { ssl }), home)).to.have.length(1);
    await start('', { ssl });
    files.write(alert(1));
    await logged("The CA root certificate file 'etc/ca.pem' of 'indexer' cannot be read");
    writeFileSync(home.path('etc', 'ca.pem'), authority.cert);
    await indexed(1);
    expect(indexerProblems(config('', { ssl }), home)).to.deep.equal([]);
  });

  it('say what of their settings cannot work, and go on with the rest', () => {
    const problems = (...options: Parameters<typeof config>) => indexerProblems(config(...options), home);
    expect(problems('')).to.deep.equal([]);
    const [half] = problems('', { ssl: '<certificate>etc/c.pem</certificate>' });
    expect(half).to.include("needs 'certificate' and 'key'");
    expect(problems('<archives>yes</archives>')).to.deep.equal([
      "Archives are not indexed: '<logall_json>yes' of 'global' has them written.",
    ]);
    const outputs = indexerOutputs(config('<archives>yes</archives>'), { home, logger });
    expect(outputs.map(({ key }) => key)).to.deep.equal(['indexer alerts']);
  });

  it('do not wait to become more when they are much already', async () => {
    await start('<flush_interval>60</flush_interval>');
    const large = count(3000).map((one) => ({ ...one, full_log: 'x'.repeat(5000) }));
    files.write(...large);
    // Some ten batches of 4 MiB at most; the shortened pauses of this test are counted.
    await indexed(3000);
    expect(waits.filter((milliseconds) => milliseconds > 30_000).length).to.be.at.most(1);
  });
});
