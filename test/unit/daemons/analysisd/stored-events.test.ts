import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventStores } from '../../../../daemons/analysisd/pipeline/event-stores.js';
import { Intake } from '../../../../daemons/analysisd/pipeline/intake.js';
import { journalIdentity } from '../../../../daemons/analysisd/pipeline/journal-identity.js';
import { type EventStore, StoredEvents } from '../../../../daemons/analysisd/pipeline/stored-events.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { Journal } from '../../../../lib/journal/journal.js';
import { listedBatch } from '../../../support/bus/listed-batch.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const MEBIBYTE = 1024 * 1024;

/** svc-db as far as positions go: what it takes counts once. */
class FakeDatabase {
  away = false;
  journal = '';
  position = 0;
  applied = -1;
  /** Text of each event that was stored, and its agent. */
  readonly stored: string[] = [];
  calls = 0;
  /** Memory that messages lay in. */
  readonly memories = new Set<ArrayBufferLike>();
  /** Called before an answer: a call that was carried out may not be answered. */
  onApply: () => void = () => {};
  /** Whether a call is refused before anything is stored. */
  refuse: () => boolean = () => false;

  readonly client: Parameters<typeof eventStores>[0] = {
    call: (method: string, params: unknown) => {
      if (this.away) return Promise.reject(new Error('svc-db is not there'));
      if (method.endsWith('.position')) {
        return Promise.resolve({ journal: this.journal, position: this.position }) as never;
      }
      const { journal, operations, upTo, after } = params as {
        after?: number;
        journal: string;
        operations: { position: number; agent: string; kind: string; message: Uint8Array }[];
        upTo: number;
      };
      this.calls += 1;
      if (this.refuse()) return Promise.reject(new Error('the disk is full'));
      const behind = journal === this.journal ? Math.max(this.applied + 1, this.position) : 0;
      if (behind < (after ?? 0)) return Promise.reject(new Error('a gap'));
      if (journal !== this.journal) [this.journal, this.position, this.applied] = [journal, 0, -1];
      for (const { position, agent, kind, message } of operations) {
        if (position <= this.applied) continue;
        this.applied = position;
        this.memories.add(message.buffer);
        this.stored.push(`${agent} ${kind} ${Buffer.from(message).toString()}`);
      }
      this.position = Math.max(this.position, upTo);
      this.onApply();
      return Promise.resolve({ position: this.position }) as never;
    },
  };
}

/** The store of files, or another one. */
function storeOf({ client }: FakeDatabase, wanted = 'files'): EventStore {
  const found = eventStores(client, () => {}).find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`there is no store of ${wanted}`);
  return found;
}

describe('Events of files on their way to svc-db', () => {
  let directory: string;
  let journal: Journal;
  let db: FakeDatabase;
  let logger: RecordingLogger;
  let running: StoredEvents[];
  let sequence: number;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-files-'));
    db = new FakeDatabase();
    logger = new RecordingLogger();
    running = [];
    sequence = 0;
    journal = await openJournal();
  });
  afterEach(async () => {
    for (const files of running) await files.stop();
    await journal.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const openJournal = (segmentBytes = MEBIBYTE) =>
    Journal.open({ directory, sync: 1, segmentBytes, maxBytes: 64 * MEBIBYTE, onDamage: () => {} });

  async function begin(mostHeld = 16 * MEBIBYTE, name = 'files'): Promise<{ files: StoredEvents; intake: Intake }> {
    const identity = await journalIdentity(directory);
    const store = storeOf(db, name);
    const files = new StoredEvents({ journal, identity, store, logger, mostHeld, retryMs: 2, noteMs: 5 });
    running.push(files);
    files.start((error) => {
      throw error;
    });
    return { files, intake: new Intake(journal, [files], () => 1_700_000_000_000) };
  }

  const event = (queue: string, text: string, agent?: string): ReceivedEvent => ({
    queue,
    location: 'syscheck',
    message: Buffer.from(text),
    receivedAt: 1_700_000_000_000,
    stream: 's',
    sequence: sequence++,
    agent: agent === undefined ? undefined : { id: agent, name: 'n', ip: 'any', labels: undefined },
  });
  const take = (intake: Intake, events: readonly ReceivedEvent[]) => intake.take(listedBatch(events));
  const storedAll = (count: number) =>
    eventually(`${String(count)} events are stored`, () => db.stored.length >= count);

  it('takes those of queue p for the store of policies', async () => {
    const { intake } = await begin(undefined, 'policies');
    await take(intake, [event('8', 'a file', '001'), event('p', 'one', '001'), event('p', 'two')]);
    await storedAll(2);
    expect(db.stored).to.deep.equal(['001 sca one', '000 sca two']);
  });

  it('takes those of queue 8 and 9, in their order, each once', async () => {
    const { files, intake } = await begin();
    await take(intake, [event('1', 'a log'), event('8', 'one', '001'), event('9', 'two', '001'), event('8', 'three')]);
    const repeated = event('8', 'twice', '002');
    await take(intake, [event('1', 'another'), repeated, event('5', 'x', '001')]);
    await take(intake, [repeated, event('8', 'last', '001')]);
    await storedAll(5);
    await eventually('everything is noted', () => files.stored === journal.end);
    expect(db.stored).to.deep.equal([
      '001 syscheck one',
      '001 rootcheck two',
      '000 syscheck three',
      '002 syscheck twice',
      '001 syscheck last',
    ]);
    expect(files.counters).to.deep.include({ received: 6, stored: 5 });
    await take(intake, [event('1', 'nothing for it')]);
    await eventually('that there was nothing is noted, too', () => files.stored === journal.end);
    expect(files.needed).to.equal(journal.end);
  });

  it('keeps what waits for svc-db, and not the records that it lay in', async () => {
    const { files, intake } = await begin();
    const long = 'x'.repeat(100_000);
    for (let index = 0; index < 3; index += 1) await take(intake, [event('1', long), event('8', 'one', '001')]);
    await storedAll(3);
    await files.stop();
    [db.position, db.applied, db.stored.length] = [0, -1, 0];
    // From the disk, too.
    await begin();
    await storedAll(3);
    for (const { byteLength } of db.memories) expect(byteLength).to.be.at.most(Buffer.poolSize);
  });

  it('goes on where svc-db is, in the middle of a record, too', async () => {
    const many = Array.from({ length: 5000 }, (_none, index) => event('8', `e${String(index)}`, '001'));
    const first = await begin();
    let calls = 0;
    // The second call is carried out, and never answered.
    db.onApply = () => {
      calls += 1;
      if (calls === 2) {
        db.away = true;
        throw new Error('killed');
      }
    };
    await take(first.intake, many);
    await eventually('svc-db is away', () => db.away);
    await first.files.stop();
    expect(db.stored.length).to.be.greaterThan(2048);
    expect(db.stored.length).to.be.lessThan(5000);
    const { files } = await begin();
    db.away = false;
    await storedAll(5000);
    await eventually('everything is noted', () => files.stored === journal.end);
    expect(db.stored).to.deep.equal(many.map(({ message }) => `001 syscheck ${message.toString()}`));
  });

  it('sends two calls one behind the other, and both again when the first is refused', async () => {
    const many = Array.from({ length: 6000 }, (_none, index) => event('8', `e${String(index)}`, '001'));
    // The first of each pair: what comes behind it would leave a gap.
    db.refuse = () => db.calls === 1 || db.calls === 3;
    const { files, intake } = await begin();
    await take(intake, many);
    await storedAll(6000);
    await eventually('everything is noted', () => files.stored === journal.end);
    expect(db.stored).to.deep.equal(many.map(({ message }) => `001 syscheck ${message.toString()}`));
    expect(files.counters).to.deep.include({ received: 6000, stored: 6000, failed: 2 });
    expect(db.calls).to.be.greaterThan(6);
  });

  it('waits for svc-db, says so, and takes everything of a journal that it does not know', async () => {
    db.away = true;
    const { files, intake } = await begin();
    for (let index = 0; index < 50; index += 1) await take(intake, [event('8', `e${String(index)}`)]);
    await eventually('it is logged', () => logger.lines.some((line) => line.includes('svc-db does not take them')));
    expect(files.stored).to.equal(undefined);
    db.away = false;
    await storedAll(50);
    [db.journal, db.position, db.applied] = ['another', 9_999_999, 9_999_999];
    db.stored.length = 0;
    await files.stop();
    await begin();
    await storedAll(50);
  });

  it('lets go of the journal when svc-db stays away, and counts what is lost', async () => {
    await journal.close();
    journal = await openJournal(4096);
    const first = await begin(16_384);
    await take(first.intake, [event('8', 'first')]);
    await storedAll(1);
    db.away = true;
    for (let index = 0; index < 300; index += 1) {
      await take(first.intake, [event('8', `e${String(index)} ${'x'.repeat(200)}`)]);
    }
    expect(journal.end - first.files.needed).to.equal(16_384);
    journal.free(first.files.needed);
    await first.files.stop();
    const { files } = await begin(16_384);
    db.away = false;
    await eventually('the last is stored', () => db.stored.at(-1)?.includes('e299 ') === true);
    expect(db.stored.length).to.be.lessThan(150);
    await eventually('the loss is counted', () => files.counters.passed_over.bytes > 0);
    expect(logger.lines.some((line) => line.startsWith('error: Events of files in '))).to.equal(true);
  });
});
