import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ifPresentSync } from '../../../../lib/files/if-present.js';
import { openBelow, readFileBelow } from '../../../../lib/files/read-below.js';

describe('a file below a directory', () => {
  let parent: string;
  let base: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'svc-below-'));
    base = join(parent, 'base');
    mkdirSync(join(base, 'a/b'), { recursive: true });
    mkdirSync(join(parent, 'outside'));
    writeFileSync(join(parent, 'outside/secret'), 'secret');
    writeFileSync(join(base, 'top'), 'at the top');
    writeFileSync(join(base, 'a/b/deep'), 'deep');
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const read = (path: string, maxBytes = 100) => readFileBelow(base, path, maxBytes).toString();
  /** Of this process, into the folder of these tests; other tests' may close at any time. */
  const openDescriptors = () =>
    readdirSync('/proc/self/fd')
      .map((descriptor) => ifPresentSync(() => readlinkSync(`/proc/self/fd/${descriptor}`)))
      .filter((target) => target?.startsWith(parent) === true);

  it('is not read beyond its limit, whatever size it seems to have', () => {
    // Files of the kernel say that they are empty.
    expect(() => readFileBelow('/proc/self', 'status', 16)).to.throw(RangeError);
    expect(readFileBelow('/proc/self', 'comm', 16).length).to.be.within(1, 16);
  });

  it('is read at any depth, however the path is written', () => {
    expect(read('top')).to.equal('at the top');
    expect(read('a/b/deep')).to.equal('deep');
    expect(read('./a//b/./deep')).to.equal('deep');
    expect(read('/top'), 'it is relative').to.equal('at the top');
    symlinkSync(base, join(parent, 'link-to-base'));
    expect(readFileBelow(join(parent, 'link-to-base'), 'top', 100).toString(), 'the base is trusted').to.equal(
      'at the top',
    );
  });

  it('is not read by way of a link, wherever that is and leads', () => {
    symlinkSync(join(parent, 'outside/secret'), join(base, 'last'));
    symlinkSync(join(parent, 'outside'), join(base, 'a/middle'));
    symlinkSync('../top', join(base, 'a/inside'));
    expect(() => read('last')).to.throw(/ELOOP/);
    expect(() => read('a/inside')).to.throw(/ELOOP/);
    expect(() => read('a/middle/secret')).to.throw(/ENOTDIR|ELOOP/);
  });

  it('does not lead upwards', () => {
    for (const path of ['../outside/secret', 'a/../../outside/secret', 'a/../top', 'a/..', '..', '', '.', '/']) {
      expect(() => read(path), path).to.throw(Error, `'${path}' names no file below`);
    }
  });

  it('is a regular file that is there', () => {
    expect(() => read('nothing')).to.throw(/ENOENT/);
    expect(() => read('none/deep')).to.throw(/ENOENT/);
    expect(() => read('top/deep')).to.throw(/ENOTDIR/);
    expect(() => read('a/b')).to.throw(Error, "'a/b' is not a regular file");
    expect(spawnSync('mkfifo', [join(base, 'pipe')]).status).to.equal(0);
    // Nobody writes into it: who waits for that waits for ever.
    expect(() => read('pipe')).to.throw(Error, "'pipe' is not a regular file");
  });

  it('is read up to its largest size', () => {
    expect(read('a/b/deep', 4)).to.equal('deep');
    expect(() => read('a/b/deep', 3)).to.throw(RangeError, 'larger than 3 bytes');
  });

  it('leaves no descriptor open, read or refused', () => {
    const seen = openBelow(base, 'top');
    expect(openDescriptors(), 'an open one is seen').to.have.lengthOf(1);
    closeSync(seen);
    for (let count = 0; count < 20; count += 1) {
      read('a/b/deep');
      for (const path of ['a/b', 'a/none', 'none/deep', 'a/../top']) expect(() => read(path)).to.throw();
      expect(() => read('top', 1)).to.throw(RangeError);
    }
    expect(openDescriptors()).to.deep.equal([]);
  });

  it('is opened for who reads it as it grows', () => {
    const file = openBelow(base, 'a/b/deep');
    writeFileSync(join(base, 'a/b/deep'), ' and more', { flag: 'a' });
    expect(readFileSync(file, 'utf8')).to.equal('deep and more');
    closeSync(file);
  });
});
