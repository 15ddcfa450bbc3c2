import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { identityOf, isAlive, ownIdentity, parseIdentity } from '../../../../lib/process/process-identity.js';
import { LockHeldError, ProcessLock } from '../../../../lib/process/process-lock.js';

describe('ProcessLock', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-lock-'));
    path = join(directory, 'x.lock');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  it('is held until it is released, and leaves no other file', () => {
    const lock = ProcessLock.acquire(path);
    expect(() => ProcessLock.acquire(path))
      .to.throw(LockHeldError)
      .with.property('holder')
      .that.includes({ pid: process.pid });
    expect(ProcessLock.holder(path)).to.deep.equal(ownIdentity());
    lock.release();
    expect(readdirSync(directory)).to.deep.equal([]);
    expect(ProcessLock.holder(path)).to.equal(undefined);
  });

  for (const [what, content] of [
    ['of a dead process', '{"pid":4194999,"startTime":"x:1"}'],
    ['of a recycled pid', JSON.stringify({ pid: process.pid, startTime: 'other boot:1' })],
    ['that is torn', '{"pid":'],
    ['that is empty', ''],
    ['with a foreign content', '[1,2]'],
  ] as const) {
    it(`is taken over from a file ${what}`, () => {
      writeFileSync(path, content);
      const lock = ProcessLock.acquire(path);
      expect(JSON.parse(readFileSync(path, 'utf8'))).to.deep.equal(ownIdentity());
      expect(readdirSync(directory)).to.deep.equal(['x.lock']);
      lock.release();
    });
  }

  it('is taken over although a process died while it did the same', () => {
    writeFileSync(path, '{"pid":4194999,"startTime":"x:1"}');
    writeFileSync(`${path}.takeover`, '{"pid":4194998,"startTime":"x:1"}');
    ProcessLock.acquire(path).release();
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('does not remove a lock that another process has taken in the meantime', () => {
    const lock = ProcessLock.acquire(path);
    writeFileSync(path, '{"pid":1,"startTime":"unknown"}');
    lock.release();
    expect(ProcessLock.holder(path)).to.deep.equal({ pid: 1, startTime: 'unknown' });
  });

  it('fails with the reason of the file system where it cannot be', () => {
    expect(() => ProcessLock.acquire(join(directory, 'missing', 'x.lock'))).to.throw(/ENOENT/);
  });
});

describe('process identity', () => {
  it('is the same each time and belongs to a living process', () => {
    expect(ownIdentity()).to.deep.equal(ownIdentity());
    expect(isAlive(ownIdentity())).to.equal(true);
    expect(ownIdentity().startTime).to.match(/^[0-9a-f-]{36}:\d+$/);
  });

  it('is none for processes that cannot be', () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 4_194_999]) expect(identityOf(pid), String(pid)).to.equal(undefined);
  });

  it('is read only from what is one', () => {
    for (const value of [null, 1, 'x', [], {}, { pid: '1', startTime: 'x' }, { pid: 0, startTime: 'x' }, { pid: 1 }]) {
      expect(parseIdentity(value)).to.equal(undefined);
    }
    expect(parseIdentity({ pid: 7, startTime: 'x', more: 1 })).to.deep.equal({ pid: 7, startTime: 'x' });
  });
});
