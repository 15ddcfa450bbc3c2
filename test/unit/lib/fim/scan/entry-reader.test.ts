import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ALL_HASHES } from '../../../../../lib/fim/checks.js';
import { EMPTY_HASHES } from '../../../../../lib/fim/entry-checksum.js';
import { CHUNK_BYTES, EntryReader } from '../../../../../lib/fim/scan/entry-reader.js';
import { type FileCalls, SYSTEM_CALLS } from '../../../../../lib/fim/scan/file-calls.js';

describe('reading of a file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-entry-'));
    path = join(directory, 'file');
    writeFileSync(path, 'first');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const read = (calls: Partial<FileCalls> = {}, maxFileBytes = 2 ** 30, stopped = () => false) =>
    new EntryReader({ maxFileBytes }, { ...SYSTEM_CALLS, ...calls }, stopped).read(path, ALL_HASHES, undefined);
  const sha1 = (content: string | Buffer) => createHash('sha1').update(content).digest('hex');
  /** Does something before the first call only. */
  const once = (action: () => void) => {
    let done = false;
    return () => {
      if (!done) action();
      done = true;
    };
  };

  it('hashes a content of several pieces', () => {
    const content = Buffer.alloc(3 * CHUNK_BYTES + 17, 'abc');
    writeFileSync(path, content);
    expect(read()).to.have.nested.property('hashes.sha1', sha1(content));
    writeFileSync(path, content.subarray(0, CHUNK_BYTES));
    expect(read()).to.have.nested.property('hashes.sha1', sha1(content.subarray(0, CHUNK_BYTES)));
  });

  it('does not hash what is too large', () => {
    expect(read({}, 5)).to.deep.include({ size: 5, hashes: EMPTY_HASHES });
    expect(read({}, 6)).to.have.nested.property('hashes.sha1', sha1('first'));
  });

  it('opens no link that took the place of the file', () => {
    const swap = once(() => {
      unlinkSync(path);
      symlinkSync('/etc/passwd', path);
    });
    const open: FileCalls['open'] = (at) => {
      swap();
      return SYSTEM_CALLS.open(at);
    };
    expect(read({ open })).to.deep.include({ kind: 'link', hashes: EMPTY_HASHES });
  });

  it('does not wait for a fifo that took the place of the file', () => {
    const swap = once(() => {
      unlinkSync(path);
      execFileSync('mkfifo', [path], { stdio: 'ignore' });
    });
    const open: FileCalls['open'] = (at) => {
      swap();
      return SYSTEM_CALLS.open(at);
    };
    expect(read({ open })).to.deep.equal({ kind: 'skipped', reason: 'special' });
  });

  it('reads the file anew that was exchanged for another', () => {
    writeFileSync(join(directory, 'other'), 'second');
    const swap = once(() => {
      renameSync(join(directory, 'other'), path);
    });
    const open: FileCalls['open'] = (at) => {
      swap();
      return SYSTEM_CALLS.open(at);
    };
    expect(read({ open }))
      .to.deep.include({ size: 6, unsettled: false })
      .and.have.nested.property('hashes.sha1', sha1('second'));
  });

  it('reads the file anew that was written to meanwhile', () => {
    const grow = once(() => {
      writeFileSync(path, 'longer than before');
    });
    const reading: FileCalls['read'] = (...parameters) => {
      grow();
      return SYSTEM_CALLS.read(...parameters);
    };
    expect(read({ read: reading })).to.include({ size: 18, unsettled: false });
  });

  it('ends with a file that never stops growing', () => {
    const reading: FileCalls['read'] = (...parameters) => {
      writeFileSync(path, 'x'.repeat(CHUNK_BYTES), { flag: 'a' });
      return SYSTEM_CALLS.read(...parameters);
    };
    const outcome = read({ read: reading });
    expect(outcome).to.include({ kind: 'file', unsettled: true, stamp: undefined });
  });

  it('says why a file cannot be read', () => {
    const failing =
      (code: string): FileCalls['open'] =>
      () => {
        throw Object.assign(new Error(code), { code });
      };
    expect(read({ open: failing('EACCES') })).to.deep.equal({ kind: 'skipped', reason: 'unreadable', code: 'EACCES' });
    expect(read({ open: failing('ENOENT') })).to.deep.equal({ kind: 'skipped', reason: 'vanished' });
  });

  it('closes what it opened, whatever happens', () => {
    let open = 0;
    const calls: Partial<FileCalls> = {
      open: (at) => (open++, SYSTEM_CALLS.open(at)),
      close: (descriptor) => {
        open -= 1;
        SYSTEM_CALLS.close(descriptor);
      },
      read: () => {
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      },
    };
    expect(read(calls)).to.deep.equal({ kind: 'skipped', reason: 'unreadable', code: 'EIO' });
    expect(open).to.equal(0);
  });

  it('stops between two pieces', () => {
    writeFileSync(path, Buffer.alloc(2 * CHUNK_BYTES));
    expect(read({}, 2 ** 30, () => true)).to.deep.equal({ kind: 'skipped', reason: 'stopped' });
  });
});
