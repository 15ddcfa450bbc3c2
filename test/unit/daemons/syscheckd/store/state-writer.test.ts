import { expect } from 'chai';
import { StateWriter } from '../../../../../daemons/syscheckd/store/state-writer.js';
import type { Change } from '../../../../../lib/store/commit-queue.js';
import { StoreError } from '../../../../../lib/store/store-error.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const change = (key: number): Change => ({ table: 'one', key, value: Buffer.from('x') });

/** A store that can be full, or break. */
class Disk {
  readonly groups: number[][] = [];
  problem: StoreError | undefined;
  tries = 0;

  readonly commit = async (changes: readonly Change[]): Promise<void> => {
    await Promise.resolve();
    this.tries += 1;
    if (this.problem !== undefined) throw this.problem;
    this.groups.push(changes.map(({ key }) => Number(key)));
  };
}

describe('writer of the state', () => {
  let disk: Disk;
  let logger: RecordingLogger;
  let writer: StateWriter;
  beforeEach(() => {
    disk = new Disk();
    logger = new RecordingLogger();
    writer = new StateWriter(disk, logger, 1);
  });

  it('brings batches to disk in their order, those of one turn together, and none in two parts', async () => {
    await Promise.all([writer.write([change(1), change(2)]), writer.write([change(3)])]);
    expect(disk.groups).to.deep.equal([[1, 2, 3]]);
    const large = Array.from({ length: 1000 }, (_, index) => change(index));
    await Promise.all([writer.write(large), writer.write(large), writer.write([change(1)])]);
    expect(disk.groups.slice(1).map((group) => group.length)).to.deep.equal([1000, 1001]);
  });

  it('waits while the disk is full, says so once, and loses nothing', async () => {
    disk.problem = new StoreError('full', 'queue/fim/db: no space left');
    const written = [writer.write([change(1)]), writer.write([change(2)])];
    await eventually('it has tried again', () => disk.tries > 3);
    disk.problem = undefined;
    await Promise.all(written);
    expect(disk.groups).to.deep.equal([[1, 2]]);
    expect(logger.lines).to.deep.equal([
      'error: queue/fim/db: no space left. Changes of files wait until there is some',
      'info: queue/fim/db: there is space again',
    ]);
    expect(writer.failure).to.equal(undefined);
  });

  it('lets those wait who make more than the disk takes', async () => {
    disk.problem = new StoreError('full', 'full');
    expect(writer.room()).to.equal(undefined);
    void writer.write(Array.from({ length: 5000 }, (_, index) => change(index)));
    const room = writer.room();
    expect(room).to.be.instanceOf(Promise);
    disk.problem = undefined;
    await room;
    expect(writer.room()).to.equal(undefined);
  });

  it('tells everybody when the store is broken, and takes nothing more', async () => {
    const broken = new StoreError('failed', 'a commit did not end');
    disk.problem = broken;
    const results = await Promise.allSettled([writer.write([change(1)]), writer.write([change(2)])]);
    expect(results.map((result) => (result.status === 'rejected' ? (result.reason as unknown) : result.status))).to.deep.equal([broken, broken]); // oxfmt-ignore
    expect(await writer.broken).to.equal(broken);
    disk.problem = undefined;
    for (const late of [writer.write([change(3)]), writer.settled(), writer.room()!]) {
      expect(await late.then(() => 'written', (error: unknown) => error)).to.equal(broken); // oxfmt-ignore
    }
    expect(disk.groups).to.deep.equal([]);
  });

  it('does not wait for a full disk when it is closed', async () => {
    disk.problem = new StoreError('full', 'full');
    writer = new StateWriter(disk, logger, 60_000);
    const written = writer.write([change(1)]).catch((error: unknown) => error);
    await eventually('it has tried', () => disk.tries > 0);
    await writer.close();
    expect(await written).to.have.property('code', 'closed');
    const broken = writer.broken.then(() => 'broken');
    expect(await Promise.race([broken, Promise.resolve('whole')]), 'an orderly stop is no failure').to.equal('whole');
    expect(await writer.write([]).catch((error: unknown) => error)).to.be.instanceOf(StoreError);
  });
});
