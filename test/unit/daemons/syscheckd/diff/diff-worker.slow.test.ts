import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ContentChange } from '../../../../../daemons/syscheckd/diff/content-changes.js';
import { copyName } from '../../../../../daemons/syscheckd/diff/copy-name.js';
import { type DiffSettings, diffSettings, DiffWorker } from '../../../../../daemons/syscheckd/diff/diff-worker.js';
import { NodiffList } from '../../../../../lib/fim/scan/path-list.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const FILE_SIZE = "Unable to calculate diff due to 'file_size' limit has been reached.";
const DISK_QUOTA = "Unable to calculate diff due to 'disk_quota' limit has been reached.";
const NO_PREVIOUS = 'Unable to calculate diff due to no previous data stored for this file.';
const NO_CHANGES = 'No content changes were found for this file.';
const NODIFF = "Diff truncated due to 'nodiff' configuration detected for this file.";

describe('report_changes', () => {
  let home: string;
  let path: string;
  let settings: DiffSettings;
  let logger: RecordingLogger;
  let worker: DiffWorker;
  const begin = (thread?: URL) =>
    new DiffWorker({ home, logger, settings: () => settings, ...(thread === undefined ? {} : { thread }) });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-diff-'));
    mkdirSync(join(home, 'queue', 'diff'), { recursive: true });
    path = join(home, 'watched');
    settings = { quota: 2 ** 30, fileSizeLimited: true, nodiff: new NodiffList([], {}) };
    logger = new RecordingLogger();
    worker = begin();
  });
  afterEach(async () => {
    await worker.close();
    rmSync(home, { recursive: true, force: true });
  });

  const copyOf = (file = path) => join(home, 'queue', 'diff', 'file', copyName(file), 'last-entry.gz');
  const copied = () => (existsSync(copyOf()) ? gunzipSync(readFileSync(copyOf())).toString('latin1') : undefined);
  const waiting = () => readdirSync(join(home, 'queue', 'diff', 'tmp'));
  const change = (more: Partial<ContentChange> = {}): ContentChange => ({
    path,
    root: home,
    type: 'modified',
    size: lstatSync(path, { throwIfNoEntry: false })?.size ?? 0,
    md5: undefined,
    limit: 1024,
    ...more,
  });
  /** Writes a content, and settles its change. */
  const write = async (content: string | Buffer, more: Partial<ContentChange> = {}) => {
    writeFileSync(path, content);
    const prepared = await worker.prepare(change(more));
    await prepared.settle();
    return prepared.text;
  };

  it('shows the changes since the copy, from the first modification on', async () => {
    expect(await write('hello world\n', { type: 'added' })).to.equal(undefined);
    expect(copied()).to.equal('hello world\n');
    expect(await write('hello world!\n')).to.equal('1c1\n< hello world\n---\n> hello world!\n');
    expect(copied()).to.equal('hello world!\n');
    expect(await write('hello world!\nmore\n')).to.equal('1a2\n> more\n');
    expect(await write('')).to.equal('1,2d0\n< hello world!\n< more\n');
    expect(await write('again\n')).to.equal('0a1\n> again\n');
    expect(waiting()).to.deep.equal([]);
    expect(logger.lines).to.deep.equal([]);
  });

  it('keeps copies for the owner alone, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      await write('a\n');
    } finally {
      process.umask(umask);
    }
    const mode = (name: string) => lstatSync(name).mode & 0o777;
    expect(mode(copyOf())).to.equal(0o600);
    for (const folder of [join(copyOf(), '..'), join(copyOf(), '..', '..'), join(home, 'queue', 'diff', 'tmp')]) {
      expect(mode(folder), folder).to.equal(0o700);
    }
  });

  it('exchanges the copy when the change is settled, and not before', async () => {
    await write('one\n');
    writeFileSync(path, 'two\n');
    const { text, discard } = await worker.prepare(change());
    expect(text).to.equal('1c1\n< one\n---\n> two\n');
    expect(copied()).to.equal('one\n');
    await discard();
    expect(copied()).to.equal('one\n');
    expect(waiting()).to.deep.equal([]);
    const again = await worker.prepare(change());
    expect(again.text).to.equal(text);
    await again.settle();
    expect(copied()).to.equal('two\n');
    // A second time it does nothing.
    await again.settle();
    await again.discard();
    expect(copied()).to.equal('two\n');
  });

  it('has no changes to tell without a copy', async () => {
    expect(await write('one\n')).to.equal(NO_PREVIOUS);
    expect(copied()).to.equal('one\n');
    writeFileSync(copyOf(), 'damaged');
    expect(await write('two\n')).to.equal(NO_PREVIOUS);
    expect(copied()).to.equal('two\n');
  });

  it('tells that the content is what it was, with and without knowing its MD5', async () => {
    await write('one\n');
    const { ino } = lstatSync(copyOf());
    expect(await write('one\n')).to.equal(NO_CHANGES);
    const md5 = createHash('md5').update('one\n').digest('hex');
    expect(await write('one\n', { md5 })).to.equal(NO_CHANGES);
    // The MD5 is that of the copy: the file is not even looked at.
    unlinkSync(path);
    expect((await worker.prepare(change({ size: 4, md5 }))).text).to.equal(NO_CHANGES);
    expect(lstatSync(copyOf()).ino).to.equal(ino);
  });

  it('does not take the MD5 of a file that was too large to be hashed for its own', async () => {
    await write('');
    const md5 = 'd41d8cd98f00b204e9800998ecf8427e';
    expect(await write('one\n', { md5 })).to.equal('0a1\n> one\n');
    expect(await write('', { md5 })).to.equal('1d0\n< one\n');
  });

  it('deletes the copy of a file beyond the limit, when there is one', async () => {
    await write('one\n');
    writeFileSync(path, 'x'.repeat(1025));
    const { text, settle } = await worker.prepare(change({ limit: 1 }));
    expect(text).to.equal(FILE_SIZE);
    expect(copied()).to.equal('one\n');
    await settle();
    expect(existsSync(join(copyOf(), '..'))).to.equal(false);
    expect(await write('x'.repeat(1024), { limit: 1 })).to.equal(NO_PREVIOUS);
    // Grown since it was looked at.
    expect(await write('x'.repeat(1025), { limit: 1, size: 4 })).to.equal(FILE_SIZE);
    expect(copied()).to.equal(undefined);
    settings = { ...settings, fileSizeLimited: false };
    expect(await write('x'.repeat(1025), { limit: 1 })).to.equal(NO_PREVIOUS);
  });

  it('makes no copy beyond the quota, and says so once a scan', async () => {
    settings = { ...settings, quota: 4096 };
    await write('one\n');
    const before = copied();
    // Packs to next to nothing, but is taken for more.
    expect(await write('x'.repeat(100_000))).to.equal(DISK_QUOTA);
    // Is taken for less than it packs to.
    const noise = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * at * 2_654_435_761) & 0xff));
    const hard = Buffer.concat(
      Array.from({ length: 200 }, (_, at) => createHash('sha512').update(noise).update(String(at)).digest()),
    );
    expect(await write(hard)).to.equal(DISK_QUOTA);
    expect(copied()).to.equal(before);
    expect(waiting()).to.deep.equal([]);
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.match(/^warn: .* quota of 4 KB/);
    await worker.beginScan();
    expect(await write(hard)).to.equal(DISK_QUOTA);
    expect(logger.lines).to.have.length(2);
    settings = { ...settings, quota: undefined };
    expect(await write(hard)).to.match(/^Binary files queue\/diff\/tmp\/tmp-entry and .*watched differ\n$/);
  });

  it('counts what copies take, over a restart and with those that wait', async () => {
    const hard = (seed: string) =>
      Array.from({ length: 20 }, (_, at) => createHash('sha256').update(`${seed}${at}`).digest('hex')).join('\n');
    settings = { ...settings, quota: 2000 };
    await write(hard('a'));
    const other = join(home, 'other');
    writeFileSync(other, hard('b'));
    const size = lstatSync(copyOf()).size;
    expect(size).to.be.within(700, 1000);
    const first = await worker.prepare(change({ path: other, size: 1299 }));
    expect(first.text).to.equal(NO_PREVIOUS);
    const third = join(home, 'third');
    writeFileSync(third, hard('c'));
    expect((await worker.prepare(change({ path: third, size: 1299 }))).text).to.equal(DISK_QUOTA);
    await first.discard();
    const second = await worker.prepare(change({ path: third, size: 1299 }));
    expect(second.text).to.equal(NO_PREVIOUS);
    await second.settle();
    await worker.close();
    worker = begin();
    expect((await worker.prepare(change({ path: other, size: 1299 }))).text).to.equal(DISK_QUOTA);
    // The copy of a file gives way to the next of the same file.
    expect(await write(hard('d'))).to.match(/^1,20c1,20\n/);
    await worker.remove([third]);
    expect((await worker.prepare(change({ path: other, size: 1299 }))).text).to.equal(NO_PREVIOUS);
  });

  it('does not show what nodiff names, and leaves its copy', async () => {
    settings = { ...settings, nodiff: new NodiffList([{ kind: 'path', value: path }], {}) };
    expect(await write('one\n', { type: 'added' })).to.equal(undefined);
    expect(copied()).to.equal('one\n');
    expect(await write('two\n')).to.equal(NODIFF);
    expect(await write('three\n')).to.equal(NODIFF);
    expect(copied()).to.equal('one\n');
    expect(await write('one\n')).to.equal(NO_CHANGES);
    await write('two\n', { type: 'added' });
    expect(copied()).to.equal('one\n');
  });

  it('reads nothing but regular files, and no file through a link', async () => {
    await write('one\n');
    const secret = join(home, 'secret');
    writeFileSync(secret, 'secret\n');
    unlinkSync(path);
    symlinkSync(secret, path);
    expect((await worker.prepare(change())).text).to.equal(undefined);
    unlinkSync(path);
    mkdirSync(path);
    expect((await worker.prepare(change())).text).to.equal(undefined);
    rmSync(path, { recursive: true });
    expect((await worker.prepare(change())).text).to.equal(undefined);
    expect(copied()).to.equal('one\n');
    expect(waiting()).to.deep.equal([]);
    expect(logger.lines.filter((line) => !line.startsWith('debug'))).to.deep.equal([]);
  });

  it('writes through no link in the place of its folders', async () => {
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o755 });
    chmodSync(elsewhere, 0o755);
    symlinkSync(elsewhere, join(home, 'queue', 'diff', 'file'));
    expect(await write('one\n')).to.equal(undefined);
    expect(logger.lines.join('\n')).to.match(/^warn: .*(is a link|ENOTDIR)/);
    expect(readdirSync(elsewhere)).to.deep.equal([]);
    expect(lstatSync(elsewhere).mode & 0o777).to.equal(0o755);
    unlinkSync(join(home, 'queue', 'diff', 'file'));
    mkdirSync(join(home, 'queue', 'diff', 'file'));
    symlinkSync(elsewhere, join(copyOf(), '..'));
    expect(await write('one\n')).to.equal(NO_PREVIOUS);
    expect(readdirSync(elsewhere)).to.deep.equal([]);
    expect(copied()).to.equal('one\n');
  });

  it('goes on when somebody removes its folders', async () => {
    await write('one\n');
    rmSync(join(home, 'queue', 'diff'), { recursive: true });
    mkdirSync(join(home, 'queue', 'diff'));
    expect(await write('two\n')).to.equal(NO_PREVIOUS);
    expect(copied()).to.equal('two\n');
  });

  it('forgets the copies of files that are gone', async () => {
    await write('one\n');
    await worker.remove([path, join(home, 'never there')]);
    expect(existsSync(join(copyOf(), '..'))).to.equal(false);
    expect(await write('one\n')).to.equal(NO_PREVIOUS);
    expect(logger.lines).to.deep.equal([]);
  });

  it('keeps at the start the copies of files that are known', async () => {
    const others = Array.from({ length: 1100 }, (_, at) => `/gone/${at}`);
    await write('one\n');
    for (const other of others) mkdirSync(join(copyOf(other), '..'));
    writeFileSync(path, 'two\n');
    await worker.prepare(change());
    expect(waiting()).to.have.length(1);
    await worker.close();
    worker = begin();
    await worker.retain((digest) => digest === copyName(path));
    expect(waiting()).to.deep.equal([]);
    expect(readdirSync(join(home, 'queue', 'diff', 'file'))).to.deep.equal([copyName(path)]);
    expect(await write('two\n')).to.equal('1c1\n< one\n---\n> two\n');
    await worker.retain(() => Promise.resolve(false));
    expect(readdirSync(join(home, 'queue', 'diff', 'file'))).to.deep.equal([]);
  });

  it('takes changes of many files at a time', async () => {
    const files = Array.from({ length: 100 }, (_, at) => join(home, `file${at}`));
    const round = async (content: string) => {
      for (const file of files) writeFileSync(file, content);
      const prepared = await Promise.all(
        files.map((file) => worker.prepare(change({ path: file, size: content.length }))),
      );
      await Promise.all(prepared.map(({ settle }) => settle()));
      return new Set(prepared.map(({ text }) => text));
    };
    expect([...(await round('one\n'))]).to.deep.equal([NO_PREVIOUS]);
    expect([...(await round('two\n'))]).to.deep.equal(['1c1\n< one\n---\n> two\n']);
  });

  it('shows changes of large files', async () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `line ${at}\n`);
    await write(lines.join(''), { limit: 10_000 });
    lines[1000] = 'another\n';
    lines[190_000] = '';
    const text = await write(lines.join(''), { limit: 10_000 });
    expect(text).to.equal('1001c1001\n< line 1000\n---\n> another\n190001d190000\n< line 190000\n');
  });

  it('begins anew when its thread breaks, and gives up for a scan that it breaks in again and again', async () => {
    const thread = new URL('data:text/javascript,throw new Error("no thread today")');
    const broken = begin(thread);
    try {
      writeFileSync(path, 'one\n');
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const { text, settle } = await broken.prepare(change());
        expect(text).to.equal(undefined);
        await settle();
      }
      expect(logger.lines).to.have.length(3);
      expect(logger.lines[2]).to.match(/^error: .*no thread today; no changes are told until the next scan$/);
      await broken.beginScan();
      expect(logger.lines).to.have.length(4);
    } finally {
      await broken.close();
    }
  });

  it('answers when it is closed', async () => {
    const running = worker.prepare(change());
    await worker.close();
    expect((await running).text).to.equal(undefined);
    expect((await worker.prepare(change())).text).to.equal(undefined);
    await worker.retain(() => false);
  });
});

describe('settings of report_changes', () => {
  it('raise the quota to the file limit', () => {
    const nodiff = new NodiffList([], {});
    const settings = (quota: number, file: number, limited = true, enabled = true) =>
      diffSettings(
        { disk_quota: { enabled, limit: quota }, file_size: { enabled: limited, limit: file }, nodiff: [] },
        nodiff,
      );
    expect(settings(10, 20)).to.deep.equal({ quota: 20 * 1024, fileSizeLimited: true, nodiff });
    expect(settings(10, 20, false)).to.include({ quota: 10 * 1024, fileSizeLimited: false });
    expect(settings(10, 20, true, false).quota).to.equal(undefined);
  });
});
