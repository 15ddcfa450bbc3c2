import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect } from 'chai';
import { isOnlyName, makeOwnFile, openSharedFile, writeOwnFile } from '../../../../lib/files/open-own-file.js';
import { removeTree } from '../../../../lib/files/remove-tree.js';
import { NotOwnError, ownDirectory } from '../../../../lib/home/own-directory.js';
import { LogFile } from '../../../../lib/log/log-file.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65534;

describe('files in directories that others write to', () => {
  let home: TemporaryHome;
  let victim: string;

  beforeEach(() => {
    home = new TemporaryHome();
    victim = home.path('victim');
    writeFileSync(victim, 'untouched');
  });
  afterEach(() => home.remove());

  it('are made anew, whatever stands under their name', () => {
    const path = home.path('var', 'run', 'x.start');
    symlinkSync(victim, path);
    writeOwnFile(path, 'mine');
    expect(readFileSync(path, 'utf8')).to.equal('mine');
    expect(lstatSync(path).isFile()).to.equal(true);

    const linked = home.path('var', 'run', 'x.heartbeat');
    linkSync(victim, linked);
    closeSync(makeOwnFile(linked));
    expect(statSync(linked).size).to.equal(0);
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
  });

  it('are not taken for others by a second name that comes or goes', () => {
    const path = home.path('var', 'run', 'x.json');
    linkSync(victim, path);
    const fd = openSync(path, 'r');
    const opened = fstatSync(fd);
    closeSync(fd);
    expect(isOnlyName(path, opened)).to.equal(false);
    unlinkSync(path);
    expect(() => isOnlyName(path, opened)).to.throw(/ENOENT/);
    writeFileSync(path, 'another');
    expect(isOnlyName(path, opened)).to.equal(false);
    expect(isOnlyName(path, statSync(path))).to.equal(true);
  });

  it('are shared only when they are files: what was there is kept, and a device or a link is refused', () => {
    const path = home.path('logs', 'shared.log');
    for (const made of [true, false]) {
      const opened = openSharedFile(path, 0o640);
      expect(opened.made).to.equal(made);
      writeSync(opened.fd, 'line\n');
      closeSync(opened.fd);
    }
    expect(readFileSync(path, 'utf8')).to.equal('line\nline\n');
    expect(() => openSharedFile('/dev/null', 0o640)).to.throw("'/dev/null' is not a regular file");
    symlinkSync(victim, `${path}.link`);
    expect(() => openSharedFile(`${path}.link`, 0o640)).to.throw(' is a link');
    expect(() => openSharedFile(home.path('missing', 'x'), 0o640)).to.throw('ENOENT');
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
  });

  it('give way with all in them, and nothing elsewhere goes', () => {
    const path = home.path('var', 'run', 'x.lock');
    mkdirSync(`${path}/in/it`, { recursive: true });
    symlinkSync(home.path('etc'), `${path}/in/link`);
    linkSync(victim, `${path}/in/file`);
    writeOwnFile(path, 'mine');
    expect(readFileSync(path, 'utf8')).to.equal('mine');
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
    expect(statSync(home.path('etc')).isDirectory()).to.equal(true);
  });

  it('are removed no deeper than there are descriptors for', () => {
    const path = home.path('tmp', 'deep');
    mkdirSync(`${path}${'/d'.repeat(600)}`, { recursive: true });
    expect(() => removeTree(path)).to.throw(/is nested deeper than 500 directories$/);
  });

  describe('a log', () => {
    const log = () => new LogFile(home.path('logs', 'x.log'), (count, reason) => `lost ${count}: ${reason}`);

    it('is not written through a second name of another file', function () {
      if (!isRoot) this.skip();
      linkSync(victim, home.path('logs', 'x.log'));
      const file = log();
      file.append('one');
      file.close();
      expect(readFileSync(victim, 'utf8')).to.equal('untouched');
      expect(file.lost).to.equal(1);
    });

    it('does not wait for the reader of a pipe', () => {
      execFileSync('mkfifo', [home.path('logs', 'x.log')]);
      const file = log();
      file.append('one');
      file.close();
      expect(file.lost).to.equal(1);
    });

    it('is given away only by whoever made it', function () {
      if (!isRoot) this.skip();
      writeFileSync(home.path('logs', 'x.log'), '');
      const owner = { uid: NOBODY, gid: NOBODY };
      for (const name of ['x.log', 'y.log']) {
        const file = new LogFile(home.path('logs', name), () => '', owner);
        file.append('one');
        file.close();
      }
      expect(statSync(home.path('logs', 'x.log')).uid).to.equal(0);
      expect(statSync(home.path('logs', 'y.log')).uid).to.equal(NOBODY);
    });
  });

  describe('a store', () => {
    const store = () => ownDirectory(home, 'queue', 'fim', 'db');

    it('is made where it is missing', () => {
      expect(store()).to.equal(home.path('queue', 'fim', 'db'));
      expect((statSync(store()).mode & 0o777).toString(8)).to.equal('750');
    });

    it('is taken back from the service user, on every level', function () {
      if (!isRoot) this.skip();
      for (const path of [home.path('queue', 'fim'), home.path('queue', 'fim', 'db')]) {
        mkdirSync(path);
        chownSync(path, NOBODY, NOBODY);
        chmodSync(path, 0o770);
      }
      store();
      for (const path of [home.path('queue', 'fim'), home.path('queue', 'fim', 'db')]) {
        const { uid, mode } = statSync(path);
        expect([uid, (mode & 0o777).toString(8)]).to.deep.equal([0, '750']);
      }
    });

    it('is not one that a link leads to', () => {
      mkdirSync(home.path('elsewhere'), { mode: 0o700 });
      symlinkSync(home.path('elsewhere'), home.path('queue', 'fim'));
      expect(store).to.throw(NotOwnError, /'.*queue\/fim' is not a directory of this home \(a link\?\): remove it/);
    });

    it('holds no link to a file elsewhere', () => {
      symlinkSync(victim, `${store()}/data.mdb`);
      expect(store).to.throw(NotOwnError, /data\.mdb' is a link: remove it/);
    });

    it('holds no second name of a file elsewhere', () => {
      linkSync(victim, `${store()}/data.mdb`);
      expect(store).to.throw(NotOwnError, /data\.mdb' has another name elsewhere/);
    });

    it('may hold two names of a file of its own', () => {
      writeFileSync(`${store()}/writer.lock`, '');
      linkSync(`${store()}/writer.lock`, `${store()}/writer.lock.1`);
      expect(store()).to.be.a('string');
    });

    it('holds no file of another user', function () {
      if (!isRoot) this.skip();
      writeFileSync(`${store()}/data.mdb`, '');
      chownSync(`${store()}/data.mdb`, NOBODY, NOBODY);
      expect(store).to.throw(NotOwnError, /data\.mdb' belongs to another user/);
    });
  });

  it("a directory of another user is removed with whatever is in it, and root's rights stay", function () {
    if (!isRoot) this.skip();
    const directory = home.path('tmp', 'theirs');
    mkdirSync(`${directory}/roots`, { recursive: true, mode: 0o700 });
    writeFileSync(`${directory}/roots/file`, '');
    symlinkSync(victim, `${directory}/roots/link`);
    chownSync(directory, NOBODY, NOBODY);
    removeTree(directory);
    expect(lstatSync(directory, { throwIfNoEntry: false })).to.equal(undefined);
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
    expect(process.geteuid?.()).to.equal(0);
  });
});
