import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import type { EventBatch } from '../../../lib/bus/bus-event.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { EventSink } from '../../../lib/bus/event-sink.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { RecordingLogger } from '../recording-logger.js';
import { sampleEvent } from './bus-events.js';
import { sampleContract, sampleHandlers } from './sample-contract.js';

/*
 * A process at one end of the bus, for tests that kill it:
 *
 *   bus-child.js server SOCKET           answers the sample contract
 *   bus-child.js sink SOCKET JOURNAL     appends each batch to a file as one line
 *   bus-child.js mute SOCKET JOURNAL     as `sink`, but what it has appended it never acknowledges; prints `appended`
 *   bus-child.js follow SOCKET FILE      sends the lines of a file from where the sink is
 *
 * It prints `ready` when it serves, and `done` when everything it had to send is acknowledged.
 */
const [mode, path, file] = process.argv.slice(2);
if (mode === undefined || path === undefined) throw new Error('usage: bus-child.js MODE SOCKET [FILE]');
const logger = new RecordingLogger();

/** A journal of whole lines: a batch, with its positions, is there or it is not. */
function openJournal(
  journal: string,
  appended: () => Promise<void>,
): { positions: MemoryStreamPositions; append: (b: EventBatch) => Promise<void> } {
  const positions = new MemoryStreamPositions();
  const text = existsSync(journal) ? readFileSync(journal, 'utf8') : '';
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) truncateSync(journal, Buffer.byteLength(text.slice(0, whole)));
  for (const line of text.slice(0, whole).split('\n')) {
    if (line === '') continue;
    const record = JSON.parse(line) as { positions: [string, number][] };
    for (const [stream, sequence] of record.positions) positions.set(stream, sequence);
  }
  return {
    positions,
    async append({ events, positions: reached }) {
      const texts = events.map((event) => event.message.toString());
      appendFileSync(journal, `${JSON.stringify({ positions: [...reached], texts })}\n`);
      // A kill that lands here has the batch in the journal and its producer without an answer.
      await appended();
    },
  };
}

const briefly = () => new Promise<void>((resolve) => setTimeout(resolve, 3));

function forEver(): Promise<void> {
  process.stdout.write('appended\n');
  return new Promise(() => {});
}

async function follow(socket: string, source: string): Promise<void> {
  const producer = new EventProducer({ path: socket, daemon: 'svc-logcollector', logger });
  producer.start();
  const text = readFileSync(source);
  const stream = producer.openStream('2049:77:1');
  let start = await stream.position();
  for (let end = text.indexOf(10, start); end >= 0; end = text.indexOf(10, start)) {
    const event = sampleEvent('', { message: text.subarray(start, end) });
    while (!stream.trySend(event, end + 1)) await producer.ready();
    start = end + 1;
    // Slow enough that a test can kill it on the way.
    if (Math.random() < 0.001) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await producer.close(60_000);
}

switch (mode) {
  case 'server':
    await new RequestServer({ contract: sampleContract, handlers: sampleHandlers(), path, logger }).start();
    process.stdout.write('ready\n');
    break;
  case 'sink':
  case 'mute': {
    const { positions, append } = openJournal(file ?? '', mode === 'sink' ? briefly : forEver);
    await new EventSink({ path, onBatch: append, positions, logger }).start();
    process.stdout.write('ready\n');
    break;
  }
  case 'follow':
    process.stdout.write('ready\n');
    await follow(path, file ?? '');
    process.stdout.write('done\n');
    break;
  default:
    throw new Error(`no mode '${mode}'`);
}
