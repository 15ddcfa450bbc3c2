import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type {
  ContentChange,
  ContentChanges,
  PreparedChange,
} from '../../../../../daemons/syscheckd/diff/content-changes.js';
import { RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

/** Keeps what it is asked for, and whether the change was on disk when a copy was exchanged. */
class RecordedContents implements ContentChanges {
  readonly asked: ContentChange[] = [];
  readonly settled: string[] = [];
  readonly discarded: string[] = [];
  readonly removed: string[] = [];
  readonly #onDisk: (path: string) => boolean;
  /** Called while a text is made. */
  meanwhile: () => Promise<void> = () => Promise.resolve();

  constructor(onDisk: (path: string) => boolean) {
    this.#onDisk = onDisk;
  }

  beginScan(): Promise<void> {
    return Promise.resolve();
  }

  async prepare(change: ContentChange): Promise<PreparedChange> {
    this.asked.push(change);
    await this.meanwhile();
    const { path, type } = change;
    return {
      text: type === 'added' ? undefined : `diff ${this.asked.length}\n`,
      settle: () => Promise.resolve(void this.settled.push(`${path} ${this.#onDisk(path)}`)),
      discard: () => Promise.resolve(void this.discarded.push(path)),
    };
  }

  remove(paths: readonly string[]): Promise<void> {
    this.removed.push(...paths);
    return Promise.resolve();
  }

  retain(): Promise<void> {
    return Promise.resolve();
  }
}

describe('recording of files with their contents', () => {
  let kit: RecorderKit;
  let contents: RecordedContents;
  beforeEach(async () => {
    kit = await RecorderKit.open(['', { name: 'report_changes', value: true }, { name: 'diff_size_limit', value: 7 }]);
    contents = new RecordedContents((path) => kit.store.table.get(path) !== undefined);
    kit.contents = contents;
    await kit.reopen();
  });
  afterEach(() => kit.remove());

  const write = (name: string, content: string, mtime = 1_600_000_000): void => {
    writeFileSync(kit.path(name), content);
    utimesSync(kit.path(name), mtime, mtime);
  };

  it('asks for every new and changed file, and exchanges the copy when the change is on disk', async () => {
    write('file', 'hello world\n');
    await kit.scan();
    const path = kit.path('file');
    expect(contents.asked).to.deep.equal([
      { path, root: kit.root, type: 'added', size: 12, md5: '6f5902ac237024bdd0c176cb93063dc4', limit: 7 },
    ]);
    expect(contents.settled).to.deep.equal([`${path} true`]);
    await kit.scan();
    expect(contents.asked).to.have.length(1);
    write('file', 'hello world!\n', 1_600_000_001);
    await kit.scan();
    expect((await kit.events())[0]).to.include({ change: 'modified', contentChanges: 'diff 2\n' });
    expect(contents.settled).to.have.length(2);
    rmSync(path);
    await kit.scan();
    expect(contents.removed).to.deep.equal([path]);
    expect(contents.discarded).to.deep.equal([]);
  });

  it('keeps the copy when another reading was recorded while the text was made', async () => {
    write('file', 'one');
    const entry = await kit.lookAt('file');
    let done = false;
    contents.meanwhile = async () => {
      if (done) return;
      done = true;
      // The same path with another decision: as a part that does not look at contents.
      await kit.store.commit([], []);
      kit.limit = 1;
      await kit.recorder.record([{ ...entry, path: kit.path('other'), kind: 'link', ticket: kit.recorder.ticket() }], {
        mode: 'realtime',
        ticket: 0,
        silent: () => true,
      });
    };
    await kit.record([entry]);
    // The table is full by now: the change did not come to be.
    expect(contents.discarded).to.deep.equal([entry.path]);
    expect(contents.settled).to.deep.equal([]);
    expect(kit.recorder.row(entry.path)).to.equal(undefined);
    expect(await kit.changes()).to.deep.equal([]);
  });

  it('lets readings of one path wait for each other', async () => {
    write('file', 'one');
    const first = await kit.lookAt('file');
    write('file', 'two!', 1_600_000_001);
    const second = await kit.lookAt('file');
    const [, overtaken] = await Promise.all([kit.record([first]), kit.record([second])]);
    expect(overtaken.overtaken).to.deep.equal([kit.path('file')]);
    expect(contents.settled).to.have.length(1);
    const again = await kit.lookAt('file');
    expect(await kit.record([again])).to.deep.equal({ overtaken: [] });
    expect((await kit.events()).map(({ change }) => change)).to.deep.equal(['added', 'modified']);
    expect(contents.settled).to.have.length(2);
  });
});
