import { readdirSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Journal, JournalOptions } from '../../../../lib/journal/journal.js';
import { eventually } from '../../../support/eventually.js';
import { FailingFiles } from '../../../support/journal/failing-files.js';
import { JournalKit, readAll, textsFrom } from '../../../support/journal/journal-kit.js';

const AT = 1_795_219_200_123;

describe('journal on a disk that fails', () => {
  let kit: JournalKit;
  let files: FailingFiles;
  let opened: Journal[];
  beforeEach(() => {
    kit = new JournalKit();
    files = new FailingFiles();
    opened = [];
  });
  afterEach(async () => {
    files.release();
    files.failing.clear();
    for (const journal of opened) await journal.close();
    kit.remove();
  });

  async function open(options: Partial<JournalOptions> = {}): Promise<Journal> {
    const journal = await kit.open({ sync: 'batch', files, ...options });
    opened.push(journal);
    return journal;
  }

  const append = (journal: Journal, text: string) => journal.append(1, Buffer.from(text), AT);
  /** Code of the error an append is rejected with. */
  const failure = (journal: Journal, text: string) =>
    append(journal, text).then(
      () => expect.fail(`${text} was taken`),
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );
  const segments = () => readdirSync(kit.directory).filter((name) => name.endsWith('.journal'));

  it('takes back a write that failed half way, and goes on in the same file', async () => {
    const journal = await open();
    const { next } = await append(journal, 'before');
    files.failing.set('write', 'ENOSPC');
    files.bytesOfFailedWrite = 40;
    const together = await Promise.all([failure(journal, 'a'), failure(journal, 'b')]);
    expect(together).to.deep.equal(['ENOSPC', 'ENOSPC']);
    expect([journal.end, journal.durable]).to.deep.equal([next, next]);
    files.failing.clear();
    expect((await append(journal, 'after')).position).to.equal(next);
    expect(textsFrom(journal)).to.deep.equal(['before', 'after']);
    expect(journal.counters).to.include({ appended: 2, refused: 2, failures: 1, segments: 1 });
    await journal.close();
    expect(textsFrom(await open())).to.deep.equal(['before', 'after']);
    expect(kit.damage).to.deep.equal([]);
  });

  for (const crash of [false, true]) {
    const when = crash ? 'after a crash' : 'in the same process';
    it(`begins another file where a failed write cannot be taken back, and goes on ${when}`, async () => {
      let journal = await open();
      const before = await append(journal, 'before');
      files.failing.set('write', 'EIO').set('truncate', 'EIO');
      files.bytesOfFailedWrite = 33;
      expect(await failure(journal, 'lost')).to.equal('EIO');
      expect(await failure(journal, 'lost')).to.equal('EIO');
      files.failing.clear();
      if (crash) {
        journal = await open();
        expect(kit.damage).to.have.length(1);
        expect(kit.damage[0]).to.include({ kind: 'torn', from: before.next, bytes: 33 });
      }
      const after = await append(journal, 'after');
      expect(after.position).to.be.greaterThan(before.next);
      expect(textsFrom(journal)).to.deep.equal(['before', 'after']);
      expect(segments()).to.have.length(2);
      const again = await open();
      expect(textsFrom(again)).to.deep.equal(['before', 'after']);
      expect(kit.damage).to.have.length(crash ? 1 : 0);
      expect(kit.trouble).to.have.length(crash ? 1 : 1);
    });
  }

  it('does not trust a file again whose sync has failed', async () => {
    const journal = await open();
    const before = await append(journal, 'before');
    files.failing.set('sync', 'EIO');
    expect(await failure(journal, 'unsafe')).to.equal('EIO');
    // A file is begun for each attempt, and none is left.
    for (const text of ['again', 'and again']) expect(await failure(journal, text)).to.equal('EIO');
    expect(segments()).to.have.length(1);
    expect(journal.durable).to.equal(before.next);
    expect(textsFrom(journal)).to.deep.equal(['before']);
    files.failing.clear();
    const after = await append(journal, 'after');
    expect(after.position).to.be.greaterThan(before.next);
    expect(textsFrom(journal)).to.deep.equal(['before', 'after']);
    await journal.close();
    expect(textsFrom(await open())).to.deep.equal(['before', 'after']);
    expect(kit.damage).to.deep.equal([]);
  });

  for (const operation of ['sync', 'write'] as const) {
    it(`has nothing of what was refused after a crash at once (${operation})`, async () => {
      const journal = await open();
      await append(journal, 'before');
      files.failing.set(operation, 'EIO');
      // The first record of the two is whole.
      files.bytesOfFailedWrite = 50;
      const refused = [failure(journal, 'refused'), failure(journal, 'too')];
      await Promise.race(refused);
      const crashed = await kit.open();
      opened.push(crashed);
      expect(textsFrom(crashed)).to.deep.equal(['before']);
      await Promise.all(refused);
    });
  }

  it('keeps what was written before a write that fails, also where that cannot be taken back', async () => {
    const journal = await open({ sync: 1000 });
    const kept = append(journal, 'kept');
    await eventually('it is written', () => journal.counters.writes === 1);
    files.failing.set('write', 'ENOSPC').set('truncate', 'EIO');
    files.bytesOfFailedWrite = 10;
    expect(await failure(journal, 'lost')).to.equal('ENOSPC');
    await kept;
    files.failing.clear();
    const after = append(journal, 'after');
    await journal.close();
    await after;
    expect(textsFrom(await open())).to.deep.equal(['kept', 'after']);
    expect(kit.damage).to.deep.equal([]);
  });

  for (const operation of ['open', 'write', 'sync', 'syncDirectory', 'makeDirectory'] as const) {
    it(`is opened, and tries again with each append, where no file can be begun (${operation})`, async () => {
      files.failing.set(operation, 'EROFS');
      const journal = await open();
      expect(kit.trouble).to.have.length(1);
      for (const text of ['a', 'b']) expect(await failure(journal, text)).to.equal('EROFS');
      expect(journal.counters).to.include({ appended: 0, failures: 2, segments: 0, bytes: 0 });
      files.failing.clear();
      await append(journal, 'good');
      expect(textsFrom(journal)).to.deep.equal(['good']);
      expect(segments()).to.have.length(1);
    });
  }

  it('can be read where it cannot be written', async () => {
    const first = await open();
    const { next } = await append(first, 'one');
    await first.close();
    files.failing.set('open', 'EROFS');
    const second = await open();
    expect(textsFrom(second)).to.deep.equal(['one']);
    expect([second.end, second.durable]).to.deep.equal([next, next]);
    expect(await failure(second, 'two')).to.equal('EROFS');
    files.failing.clear();
    expect((await append(second, 'three')).position).to.equal(next);
    expect(textsFrom(second)).to.deep.equal(['one', 'three']);
  });

  for (const sync of ['batch', 'never'] as const) {
    it(`notices that its directory is gone, and makes another (sync ${sync})`, async () => {
      const journal = await open({ sync });
      const reader = journal.reader(0);
      await append(journal, 'one');
      await append(journal, 'two');
      expect(reader.next()?.payload.toString()).to.equal('one');
      rmSync(kit.directory, { recursive: true });
      expect(await failure(journal, 'into nowhere')).to.equal('ENOENT');
      const { position } = await append(journal, 'three');
      // What the reader has open it can still read.
      expect(readAll(reader).records.map(({ payload }) => payload.toString())).to.deep.equal(['two', 'three']);
      reader.close();
      const { records, damage } = readAll(journal.reader(0));
      expect(records.map(({ payload }) => payload.toString())).to.deep.equal(['three']);
      expect(damage).to.have.length(1);
      expect(damage[0]).to.include({ from: 0, reason: 'the file is not there' });
      await journal.close();
      const again = await open();
      expect(again.start).to.equal(position);
      expect(textsFrom(again)).to.deep.equal(['three']);
    });
  }

  it('notices that its file was moved away and another put in its place', async () => {
    const journal = await open();
    await append(journal, 'one');
    renameSync(kit.directory, join(kit.root, 'moved'));
    expect(await failure(journal, 'two')).to.equal('ENOENT');
    await append(journal, 'three');
    const reader = journal.reader(journal.durable);
    expect(reader.next()).to.equal(undefined);
    expect(segments()).to.have.length(1);
  });

  it('says so when the newest segments or all files are gone at open', async () => {
    const first = await open();
    const appended = await Promise.all(['a', 'b', 'c'].map((text) => append(first, text.repeat(2000))));
    await first.close();
    rmSync(join(kit.directory, segments().at(-1)!));
    const second = await open();
    expect(kit.damage).to.have.length(1);
    expect(kit.damage[0]).to.include({ kind: 'lost', to: appended[2]!.next });
    expect(second.end).to.equal(appended[2]!.next);
    await second.close();
    rmSync(kit.directory, { recursive: true });
    const third = await open({ committed: 50_000 });
    expect(kit.damage[1]).to.include({ kind: 'lost', from: 50_000, reason: 'the files of the journal are not there' });
    expect([third.start, third.end]).to.deep.equal([50_000, 50_000]);
  });

  it('takes a directory with one file that was only begun for what is left where all was committed, and for a loss where not', async () => {
    const first = await open();
    const [old, last] = await Promise.all([append(first, 'a'.repeat(4000)), append(first, 'b'.repeat(4000))]);
    await first.close();
    const [oldFile = '', begun = ''] = segments().map((name) => join(kit.directory, name));
    rmSync(oldFile);
    truncateSync(begun, 0);
    // It does not come to a beginning, and another crash follows.
    files.failing.set('open', 'EIO');
    await (await open({ committed: last.next })).close();
    expect(kit.damage).to.deep.equal([]);
    await (await open({ committed: old.next })).close();
    const lost = { kind: 'lost', from: old.next, to: last.next, reason: 'the files of the journal are not there' };
    expect(kit.damage).to.have.length(1);
    expect(kit.damage[0]).to.include(lost);
    files.failing.clear();
    const journal = await open({ committed: last.next });
    expect((await append(journal, 'after')).position).to.equal(last.next);
    expect([segments().length, kit.damage.length]).to.deep.equal([1, 1]);
  });

  it('keeps the only file where a write to it fails, and no more of them', async () => {
    const journal = await open();
    const first = await append(journal, 'x'.repeat(5000));
    await append(journal, 'y'.repeat(5000));
    for (let count = 0; count < 4; count += 1) {
      files.failing.set('sync', 'EIO');
      expect(await failure(journal, 'z'.repeat(5000))).to.equal('EIO');
      files.failing.clear();
      journal.free(journal.end);
      await eventually('what was freed is deleted', () => segments().length === 1);
    }
    await journal.close();
    const again = await open({ committed: first.next });
    expect(again.end).to.be.at.least(journal.end);
    expect(kit.damage).to.deep.equal([]);
  });

  it('leaves nothing of what was refused, also where the only file cannot be cut', async () => {
    const journal = await open();
    for (const name of ['write', 'truncate'] as const) files.failing.set(name, 'EIO');
    files.bytesOfFailedWrite = 5000;
    expect(await failure(journal, 'refused')).to.equal('EIO');
    expect(segments()).to.deep.equal([]);
    files.failing.clear();
    await append(journal, 'taken');
    await journal.close();
    expect(textsFrom(await open())).to.deep.equal(['taken']);
  });

  it('reports files that cannot be deleted, and deletes them the next time', async () => {
    const journal = await open();
    await Promise.all(Array.from({ length: 5 }, (_, index) => append(journal, `${index}`.repeat(3000))));
    files.failing.set('remove', 'EROFS');
    journal.free(journal.end);
    await eventually('it is reported', () => kit.trouble.length === 1);
    expect(journal.counters.segments).to.equal(5);
    files.failing.clear();
    journal.free(journal.end);
    await eventually('they are deleted', () => journal.counters.segments === 1);
    expect(segments()).to.have.length(1);
  });
});
