import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { open } from 'lmdb';
import { checkLmdbFile } from '../../../../lib/store/check-lmdb-file.js';

describe('checkLmdbFile', () => {
  let directory: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-lmdb-'));
    const root = open({ path: join(directory, 'good') });
    for (let key = 0; key < 500; key += 1) void root.put(key, 'x'.repeat(200));
    await root.flushed;
    await root.close();
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const good = () => join(directory, 'good', 'data.mdb');
  const copy = (change: (path: string) => void) => {
    const path = join(directory, 'copy.mdb');
    copyFileSync(good(), path);
    change(path);
    return checkLmdbFile(path);
  };

  it('finds nothing wrong with an environment, an empty file and no file', () => {
    expect(checkLmdbFile(good())).to.equal(undefined);
    expect(copy((path) => truncateSync(path, 0))).to.equal(undefined);
    expect(checkLmdbFile(join(directory, 'absent'))).to.equal(undefined);
  });

  it('finds files of something else, damaged and cut ones', () => {
    expect(copy((path) => writeFileSync(path, 'rubbish '.repeat(4096)))).to.equal('it is not an LMDB file');
    expect(copy((path) => truncateSync(path, 100))).to.equal('it is not an LMDB file');
    expect(copy((path) => truncateSync(path, statSync(path).size - 4096))).to.match(/it was cut off$/);
    expect(copy((path) => truncateSync(path, 4096))).to.equal('its second meta page is damaged');
    expect(copy((path) => writeFileSync(path, zeroed(path, 48, 52)))).to.equal('its page size is not valid');
    expect(copy((path) => writeFileSync(path, zeroed(path, 4096, 8192)))).to.equal('its second meta page is damaged');
  });

  function zeroed(path: string, from: number, to: number): Buffer {
    return readFileSync(path).fill(0, from, to);
  }
});
