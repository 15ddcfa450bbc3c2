import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { keyLine } from '../../support/agentlink/minimal-agent.js';
import { sampleEvent } from '../../support/bus/bus-events.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const root = fileURLToPath(productRoot());

describe('svc-agentd', function () {
  this.timeout(60_000);
  const manager = new RemotedHome();
  const sink = new KeepingSink(manager);
  const remoted = new RequestClient({ contract: remotedContract, path: manager.socket('svc-remoted') });
  const numbers = [1, 2, 3, 4];
  let receiver: RunningDaemon;
  let home: TemporaryHome;
  let agentd: RunningDaemon | undefined;
  let producer: EventProducer | undefined;

  before(async () => {
    manager.keys(...numbers.map((number) => identity(number)));
    await sink.start();
    receiver = await RunningDaemon.start('svc-remoted', manager);
  });
  beforeEach(() => {
    home = new TemporaryHome({ version: 1, role: 'agent' });
    mkdirSync(home.path('queue', 'rids'));
    copyFileSync(join(root, 'etc', 'internal_options.conf'), home.path('etc', 'internal_options.conf'));
  });
  afterEach(async () => {
    await producer?.close(0);
    await agentd?.stop('SIGKILL');
    agentd = producer = undefined;
    home.remove();
  });
  after(async () => {
    remoted.close();
    await receiver.stop('SIGKILL');
    await sink.stop();
    manager.remove();
  });

  function configure(protocol: 'tcp' | 'udp', client: string, others = ''): void {
    const server = `<address>127.0.0.1</address><port>${receiver.port(`agents_${protocol}`)}</port><protocol>${protocol}</protocol>`;
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<ossec_config><client><server>${server}<retry_interval>1</retry_interval></server><enrollment><enabled>no</enabled></enrollment>${client}</client>${others}</ossec_config>\n`,
    );
  }

  async function start(number: number): Promise<EventProducer> {
    writeFileSync(home.path('etc', 'client.keys'), keyLine(identity(number)));
    const running = await RunningDaemon.start('svc-agentd', home);
    agentd = running;
    await eventually('the connection', () => running.output.includes('(4102): Connected'));
    producer = new EventProducer({
      path: home.eventsSocket(),
      daemon: 'svc-logcollector',
      logger: new RecordingLogger(),
    });
    producer.start();
    return producer;
  }

  const texts = (number: number): string[] => sink.texts(identity(number).id);
  const samples = (count: number) => Array.from({ length: count }, (_, index) => sampleEvent(`line ${index}`));

  it('speaks UDP with Blowfish, and answers requests there', async () => {
    configure(
      'udp',
      '<crypto_method>blowfish</crypto_method>',
      '<client_buffer><disabled>yes</disabled></client_buffer>',
    );
    const events = await start(1);
    await events.send(sampleEvent('over UDP', { location: 'a:b|c' }));
    await eventually('the event', () => texts(1).includes('over UDP'));
    expect(sink.events.find(({ message }) => message.toString() === 'over UDP')?.location).to.equal('a:b|c');
    expect(texts(1)[0]).to.equal("ossec: Agent started: 'box001->any'.");
    const { answer } = await remoted.call('agents.request', {
      id: '001',
      target: 'agent',
      payload: 'getconfig buffer',
    });
    expect(JSON.parse(answer.slice(3))).to.deep.equal({
      buffer: { disabled: 'yes', queue_size: 5000, events_per_second: 500 },
    });
  });

  it('sends at once and in order without a buffer', async () => {
    configure('tcp', '', '<client_buffer><disabled>yes</disabled></client_buffer>');
    const events = await start(2);
    await events.sendAll([...samples(5000), sampleEvent('x'.repeat(70_000))]);
    await eventually('all events', () => texts(2).length === 5002);
    expect(texts(2).slice(1, 5001)).to.deep.equal(samples(5000).map(({ message }) => message.toString()));
    expect(texts(2).at(-1), 'cut to what a message holds').to.match(/^x{65300,65408}$/);
  });

  it('loses nothing when svc-remoted is restarted in an orderly way', async () => {
    configure('tcp', '', '<client_buffer><disabled>yes</disabled></client_buffer>');
    const events = await start(4);
    const lines = samples(6000);
    const sending = (async () => {
      for (const [index, event] of lines.entries()) {
        while (!events.trySend(event)) await events.ready();
        if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await eventually('it is in full swing', () => texts(4).length > 500);
    // It comes back where it was.
    const configuration = manager.path('etc', 'manager.conf');
    const port = `<port>${String(receiver.port('agents_tcp'))}</port>`;
    writeFileSync(configuration, readFileSync(configuration, 'utf8').replace('<port>0</port>', port));
    expect(await receiver.stop()).to.equal(0);
    receiver = await RunningDaemon.start('svc-remoted', manager);
    await sending;
    await eventually('the last event', () => texts(4).at(-1) === lines.at(-1)?.message.toString(), 30_000);
    expect(texts(4).slice(1)).to.deep.equal(lines.map(({ message }) => message.toString()));
  });

  it('drops what the buffer cannot hold, says so, and sends the rest before it stops', async () => {
    configure(
      'tcp',
      '',
      '<client_buffer><queue_size>20</queue_size><events_per_second>1</events_per_second></client_buffer>',
    );
    const events = await start(3);
    await events.sendAll(samples(60));
    // The first event may leave before the last one comes.
    await eventually('normal again', () => texts(3).includes("wazuh: Agent buffer: 'normal'."));
    const notices = texts(3).filter((text) => text.startsWith('wazuh: '));
    expect(notices).to.deep.equal(['90%', 'full', 'normal'].map((word) => `wazuh: Agent buffer: '${word}'.`));
    expect(agentd?.output).to.contain('Client buffer throughput too low: set to 50 eps');
    expect(agentd?.output).to.contain('Agent buffer is full: Events may be lost.');
    await events.sendAll(samples(5));
    expect(await agentd?.stop()).to.equal(0);
    await eventually('the end', () => texts(3).includes("ossec: Agent stopped: 'box003->any'."));
    const lines = texts(3).filter((text) => text.startsWith('line '));
    expect(lines.slice(-5)).to.deep.equal(samples(5).map(({ message }) => message.toString()));
    expect(lines.length).to.be.within(25, 45);
  });

  it('does not start with a configuration that leads nowhere', async () => {
    const check = async (text: string, ...flags: string[]): Promise<string> => {
      writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${text}</manager_config>\n`);
      const program = new TestProgram(join(root, 'bin', 'svc-agentd'), ['--home', home.root, '-f', ...flags]);
      const { code, stderr } = await program.ended;
      expect(code, text).to.equal(1);
      return stderr;
    };
    const server = '<server><address>127.0.0.1</address></server>';
    expect(await check('', '-t')).to.contain('no manager to connect to');
    expect(
      await check(`<client>${server}<enrollment><agent_name>localhost</agent_name></enrollment></client>`, '-t'),
    ).to.contain("'localhost' is no name for an agent");
    expect(await check(`<client>${server}<crypto_method>rot13</crypto_method></client>`, '-t')).to.contain(
      'crypto_method',
    );
    expect(await check(`<client>${server}<enrollment><enabled>no</enabled></enrollment></client>`)).to.contain(
      '(1751): File client.keys not found or empty.',
    );
  });
});
