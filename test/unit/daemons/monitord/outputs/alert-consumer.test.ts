import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlertConsumer } from '../../../../../daemons/monitord/outputs/alert-consumer.js';
import type { AlertReceiver, Delivery } from '../../../../../daemons/monitord/outputs/alert-receiver.js';
import { OutputStore } from '../../../../../daemons/monitord/outputs/output-store.js';
import { AlertFeed, type StreamedAlert } from '../../../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../../../lib/output/dated-files.js';
import { RecordStream } from '../../../../../lib/output/record-stream.js';
import { eventually } from '../../../../support/eventually.js';
import { AlertFiles } from '../../../../support/monitord/alert-files.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const alert = (n: number) => ({ timestamp: '2025-06-05T10:11:23.123+0000', rule: { level: 3 }, n });
const numbers = (batch: readonly StreamedAlert[]) => batch.map(({ view }) => view?.json['n']);

describe('a consumer of alerts', () => {
  let directory: string;
  let files: AlertFiles;
  let stream: RecordStream;
  let store: OutputStore;
  let logger: RecordingLogger;
  let pauses: number[];
  let running: AlertConsumer[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'alert-consumer-'));
    files = new AlertFiles(directory);
    stream = new RecordStream({ directory, ...ALERT_FILES });
    store = await OutputStore.open(join(directory, 'outputs'));
    logger = new RecordingLogger();
    pauses = [];
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((consumer) => consumer.stop()));
    await store.close();
    stream.close();
    files.close();
    rmSync(directory, { recursive: true });
  });

  async function start(
    deliver: AlertReceiver['deliver'],
    { deadlineMs = 5000, patienceMs = 600_000, key = 'k' } = {},
  ): Promise<AlertConsumer> {
    const consumer = new AlertConsumer({
      key,
      name: 'syslog siem',
      feed: new AlertFeed({
        stream,
        liveFile: join(directory, 'alerts.json'),
        log: logger.limited(),
        lookMs: 2,
        patienceMs,
      }),
      store,
      receiver: { deadlineMs, deliver },
      logger,
      sleep: (milliseconds) => {
        pauses.push(milliseconds);
        return new Promise((resolve) => setTimeout(resolve, 2));
      },
    });
    await consumer.start();
    running.push(consumer);
    return consumer;
  }

  it('begins at the end of the stream, and goes on at its position after a stop', async () => {
    files.write(alert(1));
    const seen: unknown[] = [];
    const take = (batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> => {
      seen.push(...numbers(batch));
      delivery.sent(batch.length);
      return Promise.resolve();
    };
    const first = await start(take);
    files.write(alert(2), alert(3));
    await eventually('two alerts came', () => seen.length === 2);
    await first.stop();
    files.write(alert(4));
    const second = await start(take);
    files.write(alert(5));
    await eventually('all came', () => seen.length === 4);
    expect(seen).to.deep.equal([2, 3, 4, 5]);
    await eventually('it has nothing left', () => second.stats().lag.bytes === 0);
    expect(second.stats()).to.deep.include({ delivered: 2, failed: 0, rejected: 0, available: true });
  });

  it('repeats what failed, with longer pauses and one line each when it goes and comes back', async () => {
    const seen: unknown[] = [];
    let failures = 8;
    const consumer = await start((batch, delivery) => {
      if (failures > 0) {
        failures -= 1;
        return Promise.reject(new Error('connect ECONNREFUSED'));
      }
      seen.push(...numbers(batch));
      delivery.sent(batch.length);
      return Promise.resolve();
    });
    files.write(alert(1), alert(2));
    await eventually('they came', () => seen.length === 2);
    await eventually('it says so', () => logger.lines.length === 2);
    expect(logger.lines).to.deep.equal([
      "warn: Alerts are not delivered to 'syslog siem' for now: connect ECONNREFUSED. They wait, and it is tried again.",
      "info: Alerts are delivered to 'syslog siem' again.",
    ]);
    expect(consumer.stats()).to.deep.include({ delivered: 2, failed: 8, available: true });
    [1, 2, 4, 8, 16, 32, 60, 60].forEach((seconds, i) => {
      expect(pauses[i]).to.be.within(seconds * 1000, seconds * 1250);
    });
  });

  it('does not repeat what was settled before the failure', async () => {
    const seen: unknown[] = [];
    let failed = false;
    await start(async (batch, delivery) => {
      for (const [i, entry] of batch.entries()) {
        const n = entry.view?.json['n'];
        if (n === 3 && !failed) {
          failed = true;
          throw new Error('no');
        }
        seen.push(n);
        delivery.sent(1);
        await delivery.settle(i + 1);
      }
    });
    files.write(alert(1), alert(2), alert(3), alert(4));
    await eventually('all came', () => seen.length === 4);
    expect(seen).to.deep.equal([1, 2, 3, 4]);
    expect(failed).to.equal(true);
  });

  it('gives up a delivery that hangs, and tells it so', async () => {
    const reasons: string[] = [];
    let tries = 0;
    const consumer = await start(
      (_batch, { signal }) => {
        tries += 1;
        if (tries === 2) return Promise.resolve();
        return new Promise((_resolve) => {
          signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message));
        });
      },
      { deadlineMs: 20 },
    );
    files.write(alert(1));
    await eventually('it was tried again', () => tries === 2);
    expect(reasons).to.deep.equal(['nothing was taken within 0.02 s']);
    expect(consumer.stats().failed).to.equal(1);
  });

  it('stops within its bound while a delivery hangs, and the alert comes again', async () => {
    const first = await start(() => new Promise(() => {}));
    files.write(alert(1));
    await eventually('it waits', () => first.stats().lag.seconds > 0);
    await first.stop();
    const seen: unknown[] = [];
    await start((batch) => {
      seen.push(...numbers(batch));
      return Promise.resolve();
    });
    await eventually('it came', () => seen.length === 1);
  });

  it('counts alerts nobody takes, and passes them over', async () => {
    const consumer = await start((batch, delivery) => {
      for (const entry of batch) if (entry.view === undefined) delivery.rejected('it is no JSON');
      return Promise.resolve();
    });
    files.write('{"damaged', alert(2));
    await eventually('both are passed', () => consumer.stats().lag.bytes === 0);
    expect(consumer.stats()).to.deep.include({ rejected: 1, failed: 0 });
    expect(logger.lines).to.deep.equal(["warn: An alert for 'syslog siem' was passed over: it is no JSON"]);
  });

  it('keeps a change with the position or not at all', async () => {
    await start((batch, delivery) =>
      delivery.settle(
        batch.length,
        batch.map((entry, i) => store.mails.put(i, { alert: entry.text, at: 1, route: 'r' })),
      ),
    );
    files.write(alert(1), alert(2));
    await eventually('they are there', () => store.mails.get(1) !== undefined);
    expect(store.position('k')?.offset).to.equal(readFileSync(join(directory, 'alerts.json')).length);
  });

  it('waits where alerts were lost in a power cut, until they are written again', async () => {
    const seen: unknown[] = [];
    files.write(alert(1), alert(2));
    const path = join(directory, '2025/Jun/ossec-alerts-05.json');
    const whole = readFileSync(path, 'latin1');
    await store.keep('k', { file: '2025/Jun/ossec-alerts-05.json', offset: whole.length });
    truncateSync(path, 5);
    const consumer = await start((batch) => {
      seen.push(...numbers(batch));
      return Promise.resolve();
    });
    await eventually('it says that it waits', () => logger.lines.some((line) => line.includes('Outputs wait')));
    files.close();
    files = new AlertFiles(directory);
    files.write(alert(1), alert(2), alert(3));
    await eventually('the new one came', () => seen.length === 1);
    expect(seen).to.deep.equal([3]);
    expect(consumer.stats().failed).to.equal(0);
  });

  it('goes on in the next file when they are not', async () => {
    const seen: unknown[] = [];
    files.write(alert(1));
    await store.keep('k', { file: '2025/Jun/ossec-alerts-05.json', offset: 10_000 });
    files.file.switchDay(new Date(2025, 5, 6));
    files.write(alert(7));
    await start(
      (batch) => {
        seen.push(...numbers(batch));
        return Promise.resolve();
      },
      { patienceMs: 0 },
    );
    await eventually('that of the next day came', () => seen.length === 1);
    expect(seen).to.deep.equal([7]);
  });
});
