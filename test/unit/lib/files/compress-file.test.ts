import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { compressFile } from '../../../../lib/files/compress-file.js';

describe('compressing of a file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-compress-'));
    path = join(directory, 'x.log');
    writeFileSync(path, 'one\ntwo\n');
    chmodSync(path, 0o604);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('replaces it by one with its permissions, or those that are asked for', async () => {
    await compressFile(path);
    expect(existsSync(path)).to.equal(false);
    expect(gunzipSync(readFileSync(`${path}.gz`)).toString()).to.equal('one\ntwo\n');
    expect(statSync(`${path}.gz`).mode & 0o777).to.equal(0o604);
    writeFileSync(path, 'three\n');
    await compressFile(path, { mode: 0o600 });
    expect(gunzipSync(readFileSync(`${path}.gz`)).toString()).to.equal('three\n');
    expect(statSync(`${path}.gz`).mode & 0o777).to.equal(0o600);
  });

  it('leaves it as it is when it is called off', async () => {
    const error = await compressFile(path, { signal: AbortSignal.abort() }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'AbortError');
    expect(readFileSync(path, 'utf8')).to.equal('one\ntwo\n');
    expect(existsSync(`${path}.gz.tmp`)).to.equal(false);
  });
});
