import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  CopyWriter,
  DamagedCopyError,
  PIECE_BYTES,
  statedMd5,
  unpackCopy,
} from '../../../../../daemons/syscheckd/diff/copy-format.js';
import { NotRegularFileError } from '../../../../../lib/files/regular-file.js';

const md5 = (content: Buffer) => createHash('md5').update(content).digest('hex');
/** Hard to pack, so that the copy has several pieces as well. */
const noise = (length: number) => {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = 1; at < length; at += 1) bytes[at] = (state = (state * 48_271) % 2_147_483_647) & 0xff;
  return bytes;
};

describe('a copy', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-copy-'));
    path = join(directory, 'copy.gz');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const inFile = async <T>(flags: string, action: (fd: number) => Promise<T> | T): Promise<T> => {
    const fd = openSync(path, flags);
    try {
      return await action(fd);
    } finally {
      closeSync(fd);
    }
  };
  const write = (content: Buffer) =>
    inFile('w', async (fd) => {
      const writer = new CopyWriter(fd);
      for (let at = 0; at < content.length; at += PIECE_BYTES) {
        await writer.push(content.subarray(at, at + PIECE_BYTES));
      }
      return { md5: await writer.finish(), written: writer.written };
    });
  const read = async () => {
    const parts: Buffer[] = [];
    for await (const part of unpackCopy(path)) parts.push(part);
    return Buffer.concat(parts);
  };

  for (const [what, content] of [
    ['nothing', Buffer.alloc(0)],
    ['little', Buffer.from('hello world\n')],
    ['much that packs well', Buffer.alloc(5 * PIECE_BYTES + 3, 'line\n')],
    ['much that does not', noise(3 * PIECE_BYTES + 3)],
  ] as const) {
    it(`of ${what} is a gzip file, and says the MD5 of its content`, async () => {
      const { md5: told, written } = await write(content);
      expect(told).to.equal(md5(content));
      const bytes = readFileSync(path);
      expect(bytes.length).to.equal(written);
      expect(gunzipSync(bytes).equals(content)).to.equal(true);
      expect((await read()).equals(content)).to.equal(true);
      expect(await inFile('r', statedMd5)).to.equal(told);
    });
  }

  it('is the same when it is made in one go', async () => {
    const content = Buffer.from('hello world\n');
    await write(content);
    const pieceByPiece = readFileSync(path);
    await inFile('w', (fd) => new CopyWriter(fd).only(content));
    expect(readFileSync(path).equals(pieceByPiece)).to.equal(true);
  });

  it('is unpacked by gzip', async function () {
    await write(Buffer.from('hello world\n'));
    const { status, stdout, error } = spawnSync('gzip', ['-dc', path], { stdio: ['ignore', 'pipe', 'ignore'] });
    if (error !== undefined) this.skip();
    expect([status, stdout.toString()]).to.deep.equal([0, 'hello world\n']);
  });

  it('of another program is read too, without an MD5', async () => {
    writeFileSync(path, gzipSync('theirs'));
    expect((await read()).toString()).to.equal('theirs');
    expect(await inFile('r', statedMd5)).to.equal(undefined);
  });

  it('that is damaged says so, small or large', async () => {
    for (const content of [Buffer.from('hello world\n'), noise(3 * PIECE_BYTES)]) {
      await write(content);
      const whole = readFileSync(path);
      const flipped = Buffer.from(whole);
      flipped[flipped.length - 6] = ~(flipped[flipped.length - 6] ?? 0) & 0xff;
      for (const bytes of [whole.subarray(0, whole.length - 1), flipped, Buffer.alloc(0), Buffer.from('no gzip')]) {
        writeFileSync(path, bytes);
        const outcome = await read().catch((error: unknown) => error);
        expect(outcome, `${content.length} ${bytes.length}`).to.be.instanceOf(DamagedCopyError);
      }
    }
  });

  it('is not read through a link', async () => {
    await write(Buffer.from('x'));
    symlinkSync(path, join(directory, 'link'));
    path = join(directory, 'link');
    expect(await read().catch((error: unknown) => error))
      .to.be.instanceOf(NotRegularFileError)
      .with.property('isLink', true);
  });

  it('can be left in the middle', async () => {
    await write(noise(8 * PIECE_BYTES));
    for await (const part of unpackCopy(path)) {
      expect(part.length).to.be.above(0);
      break;
    }
    expect((await read()).length).to.equal(8 * PIECE_BYTES);
  });
});
