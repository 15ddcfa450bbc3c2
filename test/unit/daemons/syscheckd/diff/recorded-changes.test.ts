import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ContentChanges, PreparedChange } from '../../../../../daemons/syscheckd/diff/content-changes.js';
import { copyName } from '../../../../../daemons/syscheckd/diff/copy-name.js';
import { type DiffSettings, DiffWorker } from '../../../../../daemons/syscheckd/diff/diff-worker.js';
import { NodiffList } from '../../../../../lib/fim/scan/path-list.js';
import { memoryDirectory } from '../../../../support/memory-directory.js';
import { RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

/** As a daemon that is killed when the change is on disk, and its copy is not. */
class KilledBeforeCopy implements ContentChanges {
  readonly #worker: DiffWorker;
  killed = false;

  constructor(worker: DiffWorker) {
    this.#worker = worker;
  }

  beginScan(): Promise<void> {
    return this.#worker.beginScan();
  }
  async prepare(...change: Parameters<ContentChanges['prepare']>): Promise<PreparedChange> {
    const prepared = await this.#worker.prepare(...change);
    return this.killed ? { ...prepared, settle: () => Promise.resolve() } : prepared;
  }
  remove(paths: readonly string[]): Promise<void> {
    return this.#worker.remove(paths);
  }
  retain(...known: Parameters<ContentChanges['retain']>): Promise<void> {
    return this.#worker.retain(...known);
  }
}

describe('recording with report_changes', () => {
  let home: string;
  let kit: RecorderKit;
  let worker: DiffWorker;
  let contents: KilledBeforeCopy;
  let settings: DiffSettings;
  beforeEach(async () => {
    home = mkdtempSync(join(memoryDirectory(), 'svc-diff-'));
    mkdirSync(join(home, 'queue', 'diff'), { recursive: true });
    settings = { quota: 2 ** 30, fileSizeLimited: true, nodiff: new NodiffList([], {}) };
    kit = await RecorderKit.open(['', { name: 'report_changes', value: true }], ['plain']);
    mkdirSync(kit.path('plain'));
    worker = new DiffWorker({ home, logger: kit.logger, settings: () => settings });
    contents = new KilledBeforeCopy(worker);
    kit.contents = contents;
    await kit.reopen();
  });
  afterEach(async () => {
    await kit.remove();
    await worker.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** In one step: no scan finds it half written. */
  const write = (name: string, content: string): void => {
    writeFileSync(kit.path('plain', '.new'), content);
    renameSync(kit.path('plain', '.new'), kit.path(name));
  };
  /** What events say of contents since the last time, by file and in their order. */
  const told = async (): Promise<[string, string | undefined][]> => {
    await kit.scan();
    const waiting = await kit.waiting();
    await kit.drain();
    return waiting.map(({ message }) => {
      const { data } = JSON.parse(message.toString()) as { data: { path: string; content_changes?: string } };
      return [data.path.slice(kit.root.length + 1), data.content_changes];
    });
  };
  const hasCopy = (name: string): boolean => existsSync(join(home, 'queue', 'diff', 'file', copyName(kit.path(name))));

  it('shows the first change after a baseline already', async () => {
    write('motd', 'hello world\n');
    write('plain/other', 'hello world\n');
    expect(await told()).to.deep.equal([]);
    expect([hasCopy('motd'), hasCopy('plain/other')]).to.deep.equal([true, false]);
    write('motd', 'hello world!\n');
    write('plain/other', 'hello world!\n');
    write('new', 'one\n');
    expect((await told()).sort()).to.deep.equal([
      ['motd', '1c1\n< hello world\n---\n> hello world!\n'],
      ['new', undefined],
      ['plain/other', undefined],
    ]);
    write('new', 'one\n');
    expect(await told()).to.deep.equal([['new', 'No content changes were found for this file.']]);
  });

  it('forgets the copy of a file that is gone', async () => {
    write('motd', 'hello world\n');
    await told();
    rmSync(kit.path('motd'));
    expect(await told()).to.deep.equal([['motd', undefined]]);
    expect(hasCopy('motd')).to.equal(false);
    write('motd', 'hello\n');
    expect(await told()).to.deep.equal([['motd', undefined]]);
    write('motd', 'hallo\n');
    expect(await told()).to.deep.equal([['motd', '1c1\n< hello\n---\n> hallo\n']]);
  });

  it('shows a change once more when it was killed before the copy was exchanged, and loses none', async () => {
    write('motd', 'one\n');
    await told();
    contents.killed = true;
    write('motd', 'two\n');
    expect(await told()).to.deep.equal([['motd', '1c1\n< one\n---\n> two\n']]);
    contents.killed = false;
    await kit.reopen();
    expect(await told()).to.deep.equal([]);
    write('motd', 'three\n');
    expect(await told()).to.deep.equal([['motd', '1c1\n< one\n---\n> three\n']]);
    write('motd', 'four\n');
    expect(await told()).to.deep.equal([['motd', '1c1\n< three\n---\n> four\n']]);
  });

  it('tells the limits and nodiff as the specification words them', async () => {
    await kit.watch(['', { name: 'report_changes', value: true }, { name: 'diff_size_limit', value: 1 }]);
    settings = { ...settings, nodiff: new NodiffList([{ kind: 'path', value: kit.path('secret') }], {}) };
    for (const name of ['large', 'secret', 'full']) write(name, 'x\n');
    await told();
    write('large', 'x'.repeat(1025));
    write('secret', 'y\n');
    expect((await told()).sort()).to.deep.equal([
      ['large', "Unable to calculate diff due to 'file_size' limit has been reached."],
      ['secret', "Diff truncated due to 'nodiff' configuration detected for this file."],
    ]);
    settings = { ...settings, quota: 1 };
    write('full', 'y\n');
    expect(await told()).to.deep.equal([
      ['full', "Unable to calculate diff due to 'disk_quota' limit has been reached."],
    ]);
  });

  it('keeps a long text within what the wire takes', async () => {
    write('motd', '');
    await told();
    write('motd', '"\\\t\n'.repeat(20_000));
    const [[, text] = []] = await told();
    expect(text).to.match(/^0a1,20000\n> "\\\t\n/);
    expect(text).to.match(/\n> "\\\t\nMore changes\.\.\.$/);
    expect(JSON.stringify(text).length).to.be.within(60_000, 65_536);
  });
});
