import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { directoryName, FileDiffStore } from '../../../../daemons/analysisd/file-diff-store.js';

describe('file diff store', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'diff-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('remembers the last log of a host and rule, over a restart once it is flushed', () => {
    const store = new FileDiffStore(directory);
    expect(store.last('web-1', 534)).to.equal(undefined);
    store.store('web-1', 534, 'first');
    store.store('web-1', 534, 'second \xff');
    expect(store.last('web-1', 534)).to.equal('second \xff');
    expect(readdirSync(directory)).to.deep.equal([]);
    store.flush();
    expect(readFileSync(join(directory, 'web-1', '534', 'last-entry'), 'latin1')).to.equal('second \xff\0');
    expect(new FileDiffStore(directory).last('web-1', 534)).to.equal('second \xff');
  });

  it('keeps what could not be written for the next flush', () => {
    const store = new FileDiffStore(directory);
    writeFileSync(join(directory, 'a'), 'in the way');
    store.store('a', 1, 'log');
    store.store('b', 1, 'log');
    expect(() => {
      store.flush();
    }).to.throw();
    expect(store.last('a', 1)).to.equal('log');
    rmSync(join(directory, 'a'));
    store.flush();
    expect(readdirSync(directory).sort()).to.deep.equal(['a', 'b']);
  });

  it('keeps every host inside the directory and apart from others', () => {
    const names = ['..', '.', '', '/', '../../etc', 'a/../../b', 'a\0b', '%', '%2e', '-', '-a', 'x'.repeat(400), 'é'];
    expect(new Set(names.map(directoryName)).size).to.equal(names.length);
    const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(bytes, bytes, fc.integer({ min: 1, max: 40 }), (one, other, times) => {
        const [a, b] = [one.repeat(times), other.repeat(times)];
        const name = directoryName(a);
        expect(name).to.match(/^[A-Za-z0-9_%][A-Za-z0-9_%.-]*$/);
        expect(name.length).to.be.within(1, 240);
        if (a !== b) expect(name).to.not.equal(directoryName(b));
      }),
    );
  });

  it('tells long names apart that begin alike', () => {
    const store = new FileDiffStore(directory);
    mkdirSync(directory, { recursive: true });
    store.store('ä'.repeat(200) + '1', 1, 'one');
    store.store('ä'.repeat(200) + '2', 1, 'two');
    expect(store.last('ä'.repeat(200) + '1', 1)).to.equal('one');
  });
});
