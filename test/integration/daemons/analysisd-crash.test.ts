import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { BusEvent, ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { PipelineHome, TestPipeline } from '../../support/analysisd/pipeline-kit.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-analysisd', productRoot()));
const EVENTS = 4000;
const KILLS = 3;
/** For a busy machine. */
const PATIENCE_MS = 30_000;
const sections = (threads: number): string =>
  `<journal><checkpoint_interval>1s</checkpoint_interval></journal><analysis><threads>${String(threads)}</threads></analysis>`;
const OUTPUTS = ['logs/alerts/alerts.json', 'logs/alerts/alerts.log', 'queue/fts/fts-queue'];

describe('svc-analysisd under kill -9', function () {
  this.timeout(120_000);
  const homes: PipelineHome[] = [];
  let child: ChildProcess | undefined;
  let client: RequestClient<typeof analysisdContract> | undefined;
  let producer: EventProducer | undefined;

  const makeHome = (now: number, threads = 1): PipelineHome => {
    const home = new PipelineHome(now, { sections: sections(threads) });
    homes.push(home);
    return home;
  };
  afterEach(async () => {
    await end('SIGKILL');
    await producer?.close(0);
    client?.close();
    for (const home of homes.splice(0)) home.remove();
  });

  async function start(home: PipelineHome): Promise<void> {
    const started = spawn(process.execPath, [PROGRAM, '--home', home.root], { stdio: 'ignore' });
    child = started;
    await eventually(
      'svc-analysisd answers',
      () =>
        client?.call('ping', {}).then(
          () => true,
          () => false,
        ),
      PATIENCE_MS,
    );
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
  }

  it('writes what a run without kills writes, byte for byte', async function () {
    await compare(this, [1]);
  });

  it('writes the same with threads, whose number changes', async function () {
    await compare(this, [3, 2, 1, 4]);
  });

  /** @param threads number of threads at each start */
  async function compare(test: Mocha.Context, threads: readonly number[]): Promise<void> {
    const now = Date.now();
    const home = makeHome(now, threads[0]);
    const requests = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    client = requests;
    const sender = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer = sender;
    sender.start();
    const events = Array.from({ length: EVENTS }, (_, number): BusEvent => {
      const user = `user${String((number * 7) % 1000)}`;
      const message = Buffer.from(`Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${String(number)}`);
      const id = String(1 + (number % 9)).padStart(3, '0');
      const agent = { id, name: `host-${id}`, ip: 'any' };
      return { queue: '1', location: '/var/log/door.log', message, receivedAt: now + number, agent };
    });
    await start(home);
    let acknowledged = 0;
    const sending = (async () => {
      for (const event of events) {
        await sender.ready();
        // What a failed test leaves is rejected when the producer is closed.
        sender.send(event).then(
          () => (acknowledged += 1),
          () => {},
        );
      }
    })();
    sending.catch(() => {});
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const target = (EVENTS * kill) / (KILLS + 2);
      await eventually('events are acknowledged', () => acknowledged >= target, PATIENCE_MS);
      await end('SIGKILL');
      home.configure(sections(threads[kill % threads.length] ?? 1));
      await start(home);
    }
    await sending;
    await eventually('all events are acknowledged', () => acknowledged === EVENTS, PATIENCE_MS);
    await eventually(
      'all events are analysed',
      async () => {
        const { events: flow } = (await requests.call('stats', {})) as { events: { pending: number } };
        return flow.pending === 0;
      },
      PATIENCE_MS,
    );
    await end('SIGTERM');
    if (new Date(now).getDay() !== new Date().getDay()) test.skip();

    const reference = await TestPipeline.start(makeHome(now));
    await reference.take(events.map((event, index): ReceivedEvent => ({ ...event, stream: 's', sequence: index + 1 })));
    await reference.written();
    await reference.pipeline.stop();
    for (const path of OUTPUTS) {
      const found = readFileSync(home.path(path));
      expect(found.equals(readFileSync(reference.home.path(path))), path).to.equal(true);
    }
    expect(readFileSync(home.path('logs/alerts/alerts.json'), 'latin1').split('\n')).to.have.length(EVENTS + 1);
  }
});
