import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { WatchedFile } from '../../../../api/auth/watched-file.js';

describe('WatchedFile', () => {
  let directory: string;
  let path: string;
  let file: WatchedFile;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-watched-'));
    path = join(directory, 'key');
    file = new WatchedFile(path);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('tells a file that comes, stays, changes, goes and comes again', async () => {
    expect(file.read()).to.deep.equal({ text: undefined, changed: true });
    expect(file.read()).to.deep.equal({ text: undefined, changed: false });
    await nextTurn();
    writeFileSync(path, 'one');
    expect(file.read()).to.deep.equal({ text: 'one', changed: true });
    expect(file.read()).to.deep.equal({ text: 'one', changed: false });
    await nextTurn();
    expect(file.read()).to.deep.equal({ text: 'one', changed: false });
    await nextTurn();
    writeFileSync(path, 'another');
    expect(file.read()).to.deep.equal({ text: 'another', changed: true });
    await nextTurn();
    rmSync(path);
    expect(file.read()).to.deep.equal({ text: undefined, changed: true });
    await nextTurn();
    writeFileSync(path, 'another');
    expect(file.read()).to.deep.equal({ text: 'another', changed: true });
  });

  it('tells in the same turn what was written by this process', () => {
    file.read();
    writeFileSync(path, 'one');
    file.written();
    expect(file.read()).to.deep.equal({ text: 'one', changed: true });
  });

  it('tells another file of the same size and time', async () => {
    writeFileSync(path, 'one');
    file.read();
    await nextTurn();
    writeFileSync(join(directory, 'two'), 'two');
    rmSync(path);
    copyFileSync(join(directory, 'two'), path);
    expect(file.read()).to.deep.equal({ text: 'two', changed: true });
  });

  it('tries again what could not be read', () => {
    mkdirSync(path);
    expect(() => file.read()).to.throw(/EISDIR/);
    expect(() => file.read()).to.throw(/EISDIR/);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'one');
    expect(file.read()).to.deep.equal({ text: 'one', changed: true });
  });
});
