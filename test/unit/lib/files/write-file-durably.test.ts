import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeFileDurably } from '../../../../lib/files/write-file-durably.js';

describe('writeFileDurably', () => {
  let directory: string;
  const path = (name: string): string => join(directory, name);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-write-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('replaces a file as a whole and keeps the one before', async () => {
    for (const text of ['one', 'two', 'three']) {
      await writeFileDurably(path('a'), text, { mode: 0o640, previous: path('a.old') });
    }
    expect([readFileSync(path('a'), 'utf8'), readFileSync(path('a.old'), 'utf8')]).to.deep.equal(['three', 'two']);
    expect(statSync(path('a')).mode & 0o777).to.equal(0o640);
    expect(readdirSync(directory)).to.have.members(['a', 'a.old']);
  });

  it('leaves everything as it was when it fails', async () => {
    mkdirSync(path('a'));
    const error = await writeFileDurably(path('a'), 'x', { mode: 0o640 }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    expect(readdirSync(directory)).to.deep.equal(['a']);
  });

  it('does without the one before where it cannot be kept', async () => {
    writeFileSync(path('a'), 'one');
    mkdirSync(path('a.old'));
    await writeFileDurably(path('a'), 'two', { mode: 0o640, previous: path('a.old') });
    expect(readFileSync(path('a'), 'utf8')).to.equal('two');
  });
});
