import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { EventSender } from '../../../../daemons/syscheckd/record/event-sender.js';
import { FileStore } from '../../../../daemons/syscheckd/store/file-store.js';
import type { EventBatch } from '../../../../lib/bus/bus-event.js';
import { EventProducer } from '../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { removeTree } from '../../../support/remove-tree.js';
import { type ToldChange, toldChange } from '../../../support/syscheckd/told-change.js';

const CHILD = fileURLToPath(new URL('../../../support/syscheckd/recorder-child.js', import.meta.url));

describe('recording of files in a process that is killed', () => {
  let directory: string;
  let child: ChildProcess | undefined;
  let sink: EventSink;
  const told: (ToldChange | undefined)[] = [];
  const logger = new RecordingLogger();

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-recorder-'));
    told.length = 0;
    const onBatch = ({ events }: EventBatch): Promise<void> => {
      for (const { message } of events) told.push(toldChange(message.toString('latin1')));
      return Promise.resolve();
    };
    const path = join(directory, 'events.sock');
    sink = new EventSink({ path, onBatch, positions: new MemoryStreamPositions(), logger });
    await sink.start();
  });

  afterEach(async () => {
    await kill();
    await sink.stop();
    removeTree(directory);
  });

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  const failed = (error: unknown): never => {
    throw error;
  };

  /** Sends what is left in the outbox, and gives the checksums of all rows. */
  async function drain(): Promise<Map<string, string>> {
    const store = await FileStore.open(join(directory, 'db'), logger);
    const producer = new EventProducer({ path: join(directory, 'events.sock'), daemon: 'test', logger });
    const sender = new EventSender({ outbox: store.outbox, producer, maxEps: () => 0, logger, failed });
    try {
      producer.start();
      sender.start();
      await eventually('everything is told', () => store.outbox.size === 0);
      const rows = new Map<string, string>();
      for await (const piece of store.pieces(() => true)) {
        for (const { path, attributes } of piece) rows.set(path, attributes.checksum);
      }
      expect(store.rows).to.equal(rows.size);
      return rows;
    } finally {
      await sender.stop(() => producer.close());
      await store.close();
    }
  }

  it('tells every change that is in a row once, and none that is not, whenever it is killed', async () => {
    for (let round = 1; round <= 4; round += 1) {
      child = spawn(process.execPath, [CHILD, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
      const before = told.length;
      await eventually('changes are told', () => told.length > before + 100 * round, 30_000);
      await kill();
      const rows = await drain();
      // A change is told on top of the one before: an event too few or too many does not fit the next.
      const known = new Map<string, string>();
      for (const event of told) {
        if (event === undefined) throw new Error('a mark of a scan nobody made');
        const { change, path, attributes, before: old } = event;
        if (change === 'added') expect(known.get(path), `added ${path}`).to.equal(undefined);
        else expect(known.get(path), `${change} ${path}`).to.equal((old ?? attributes).checksum);
        if (change === 'deleted') known.delete(path);
        else known.set(path, attributes.checksum);
      }
      expect(rows.size).to.be.greaterThan(0);
      expect(Object.fromEntries(known)).to.deep.equal(Object.fromEntries(rows));
    }
  }).timeout(120_000);
});
