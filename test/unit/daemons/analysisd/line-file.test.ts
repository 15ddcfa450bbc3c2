import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LineFile } from '../../../../daemons/analysisd/line-file.js';
import type { FileRepair } from '../../../../lib/output/append-file.js';

describe('line file', () => {
  let directory: string;
  let path: string;
  let repairs: FileRepair[];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lines-'));
    path = join(directory, 'fts', 'fts-queue');
    repairs = [];
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const open = (state?: number) => new LineFile(path, state, (repair) => repairs.push(repair));
  const content = () => readFileSync(path, 'latin1');

  it('comes to be with its first line and is read at the next start', () => {
    const first = open();
    expect(first.read()).to.deep.equal([]);
    first.flush();
    expect(existsSync(path)).to.equal(false);
    first.append('one \xff\n');
    first.append('\ntwo\n');
    expect(first.state()).to.equal(11);
    first.close();
    const second = open();
    expect(second.read()).to.deep.equal(['one \xff', 'two']);
    second.append('three\n');
    expect(second.read()).to.deep.equal(['one \xff', 'two']);
    second.close();
    expect(content()).to.equal('one \xff\n\ntwo\nthree\n');
  });

  it('reads what a state saw, and takes what came after it once more', async () => {
    const first = open();
    first.append('one\n');
    const state = first.state();
    await first.sync();
    first.append('two\nthree\n');
    first.close();
    truncateSync(path, 10);

    const second = open(state);
    expect(second.read()).to.deep.equal(['one']);
    second.append('two\n');
    second.flush();
    second.append('three\n');
    second.flush();
    second.endReplay();
    second.close();
    expect(content()).to.equal('one\ntwo\nthree\n');
    expect(repairs).to.deep.equal([{ path, kind: 'torn', offset: 8, bytes: 2 }]);
  });

  it('begins with a state before the first line', () => {
    mkdirSync(join(directory, 'fts'));
    writeFileSync(path, 'one\ntwo\n');
    const file = open(0);
    expect(file.read()).to.deep.equal([]);
    file.append('one\n');
    file.endReplay();
    file.close();
    expect(content()).to.equal('one\ntwo\n');
    expect(repairs.map(({ kind }) => kind)).to.deep.equal(['extra']);
  });

  it('leaves what is beyond to the next run when it is closed in the middle of a replay', () => {
    mkdirSync(join(directory, 'fts'));
    writeFileSync(path, 'one\ntwo\nthree\n');
    const first = open(0);
    first.append('one\n');
    first.close({ midway: true });
    expect(content()).to.equal('one\ntwo\nthree\n');
    const second = open(4);
    for (const line of ['two\n', 'three\n', 'four\n']) second.append(line);
    second.endReplay();
    second.close();
    expect(content()).to.equal('one\ntwo\nthree\nfour\n');
    expect(repairs).to.deep.equal([]);
  });

  it('goes on when the file was removed', () => {
    const file = open(100);
    expect(file.read()).to.deep.equal([]);
    file.append('one\n');
    file.endReplay();
    file.close();
    expect(content()).to.equal('one\n');
    expect(repairs).to.deep.equal([{ path, kind: 'short', offset: 0, bytes: 100 }]);
  });

  it('cuts a line torn by a crash, which would spoil the next one', () => {
    mkdirSync(join(directory, 'fts'));
    writeFileSync(path, 'one\ntw');
    const file = open();
    expect(file.read()).to.deep.equal(['one']);
    file.append('two\n');
    file.close();
    expect(content()).to.equal('one\ntwo\n');
  });
});
