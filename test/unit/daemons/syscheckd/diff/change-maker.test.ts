import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChangeMaker } from '../../../../../daemons/syscheckd/diff/change-maker.js';
import { PIECE_BYTES } from '../../../../../daemons/syscheckd/diff/copy-format.js';
import { CopyStore, type NewCopy } from '../../../../../daemons/syscheckd/diff/copy-store.js';
import { type FileCalls, SYSTEM_CALLS } from '../../../../../lib/fim/scan/file-calls.js';

const RULES = { quota: 2 ** 30, fileSizeLimited: true, nodiff: false };

/** Copies on a disk that is full, as long as it is. */
class FullDisk extends CopyStore {
  full = true;

  override create(): NewCopy {
    const { name, fd } = super.create();
    return { name, fd: this.full ? openSync('/dev/full', 'r+') : fd };
  }
}

describe('finding out what changed in a file', () => {
  let home: string;
  let path: string;
  let notices: string[];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-change-'));
    mkdirSync(join(home, 'queue', 'diff'), { recursive: true });
    path = join(home, 'watched');
    notices = [];
  });
  afterEach(() => {
    rmSync(home, { recursive: true, force: true });
  });

  const makerOf = (calls: Partial<FileCalls> = {}, store = new CopyStore(home)) =>
    new ChangeMaker(store, { ...SYSTEM_CALLS, ...calls }, ({ level, text }) => notices.push(`${level}: ${text}`));
  const change = async (maker: ChangeMaker, size = 10) => {
    const type = 'modified' as const;
    const { text, token } = await maker.prepare({ path, root: home, type, size, md5: undefined, limit: 10_000 }, RULES);
    maker.finish(token, true);
    return text;
  };
  const waiting = () => readdirSync(join(home, 'queue', 'diff', 'tmp'));

  it('shows nothing of a file that a link in the place of a directory leads to', async () => {
    path = join(home, 'dir', 'file');
    mkdirSync(join(home, 'dir'));
    writeFileSync(path, 'watched\n');
    const maker = makerOf();
    expect(await change(maker)).to.match(/no previous data/);
    mkdirSync(join(home, 'secret'));
    writeFileSync(join(home, 'secret', 'file'), 'secret\n');
    renameSync(join(home, 'dir'), join(home, 'away'));
    symlinkSync(join(home, 'secret'), join(home, 'dir'));
    expect(await change(maker)).to.equal(undefined);
    expect(waiting()).to.deep.equal([]);
    expect(notices.at(-1)).to.match(/^debug: .* it is not where its path leads any more$/);
    unlinkSync(join(home, 'dir'));
    renameSync(join(home, 'away'), join(home, 'dir'));
    writeFileSync(path, 'changed\n');
    expect(await change(maker)).to.equal('1c1\n< watched\n---\n> changed\n');
  });

  it('shows changes below a configured path that lies behind a link', async () => {
    symlinkSync(home, join(home, 'way'));
    mkdirSync(join(home, 'd\u00fcr'));
    path = Buffer.from(join(home, 'way', 'd\u00fcr', 'file')).toString('latin1');
    writeFileSync(join(home, 'd\u00fcr', 'file'), 'one\n');
    const root = join(home, 'way');
    const maker = makerOf();
    const ask = { path, root, type: 'modified', size: 4, md5: undefined, limit: 10_000 } as const;
    expect((await maker.prepare(ask, RULES)).text).to.match(/no previous data/);
    const single = { ...ask, path: join(home, 'way', 'file'), root: join(home, 'way', 'file') };
    writeFileSync(join(home, 'file'), 'single');
    expect((await maker.prepare(single, RULES)).text, 'a single file').to.match(/no previous data/);
    expect((await maker.prepare({ ...ask, root: '/' }, RULES)).text, 'the link lies below').to.equal(undefined);
    const real = Buffer.from(join(home, 'd\u00fcr', 'file')).toString('latin1');
    expect((await maker.prepare({ ...ask, path: real, root: '/' }, RULES)).text).to.match(/no previous data/);
  });

  it('shows in the next change what was written while a file was copied', async () => {
    writeFileSync(path, 'first\n');
    const maker = makerOf({
      read: (...parameters) => {
        appendFileSync(path, 'more\n');
        return SYSTEM_CALLS.read(...parameters);
      },
    });
    await change(maker);
    expect(await change(makerOf())).to.equal('1a2\n> more\n');
    expect(await change(makerOf())).to.match(/^No content changes/);
  });

  it('copies what is left of a file that is cut meanwhile', async () => {
    const line = `${'x'.repeat(99)}\n`;
    writeFileSync(path, line.repeat(10_000));
    let reads = 0;
    const maker = makerOf({
      read: (...parameters) => {
        if (++reads === 2) truncateSync(path, PIECE_BYTES);
        return SYSTEM_CALLS.read(...parameters);
      },
    });
    await change(maker);
    const whole = Math.floor(PIECE_BYTES / 100);
    const rest = 'x'.repeat(PIECE_BYTES % 100);
    writeFileSync(path, line.repeat(whole));
    expect(await change(makerOf())).to.equal(`${whole + 1}d${whole}\n< ${rest}\n\\ No newline at end of file\n`);
  });

  it('tells nothing of a file that cannot be read to its end, and keeps its copy', async () => {
    writeFileSync(path, 'one\n');
    await change(makerOf());
    writeFileSync(path, 'x\n'.repeat(PIECE_BYTES));
    let reads = 0;
    const maker = makerOf({
      read: (...parameters) => {
        if (++reads === 2) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
        return SYSTEM_CALLS.read(...parameters);
      },
    });
    expect(await change(maker)).to.equal(undefined);
    expect(notices).to.deep.equal([`debug: No changes of '${path}': EIO: i/o error`]);
    expect(waiting()).to.deep.equal([]);
    writeFileSync(path, 'two\n');
    expect(await change(makerOf())).to.equal('1c1\n< one\n---\n> two\n');
  });

  it('goes on without copies while the disk is full, and warns once a scan', async () => {
    const store = new FullDisk(home);
    const maker = makerOf({}, store);
    for (const content of ['one\n', 'x\n'.repeat(PIECE_BYTES), 'two\n']) {
      writeFileSync(path, content);
      expect(await change(maker)).to.equal(undefined);
    }
    const text = `The changes of '${path}' cannot be told: ENOSPC: no space left on device, write`;
    expect(notices).to.deep.equal([`warn: ${text}`, `debug: ${text}`, `debug: ${text}`]);
    expect(waiting()).to.deep.equal([]);
    maker.measure();
    expect(await change(maker)).to.equal(undefined);
    expect(notices[3]).to.match(/^warn: /);
    store.full = false;
    expect(await change(maker)).to.match(/no previous data/);
  });
});
