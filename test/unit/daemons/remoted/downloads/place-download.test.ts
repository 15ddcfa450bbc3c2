import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { DownloadError } from '../../../../../daemons/remoted/downloads/download-error.js';
import {
  checkMergedFile,
  fileHash,
  fileState,
  placeDownload,
} from '../../../../../daemons/remoted/downloads/place-download.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('putting downloads in place', () => {
  let home: TemporaryHome;
  let temporary: string;
  let folder: string;

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('var', 'download'));
    folder = home.path('etc', 'shared', 'web');
    mkdirSync(folder, { recursive: true });
    temporary = home.path('var', 'download', 'x');
  });
  afterEach(() => {
    home.remove();
  });

  const place = (content: string, name = 'agent.conf') => {
    writeFileSync(temporary, content);
    return placeDownload(temporary, folder, name, createHash('sha256').update(content).digest('hex'));
  };
  const errorOf = async (work: Promise<unknown>): Promise<DownloadError> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DownloadError);
    return error as DownloadError;
  };

  it('makes a file, replaces one that differs, and leaves the same alone', async () => {
    const path = home.path('etc', 'shared', 'web', 'agent.conf');
    expect(await place('one')).to.have.property('result', 'stored');
    expect(await place('two')).to.have.property('result', 'stored');
    expect(readFileSync(path, 'utf8')).to.equal('two');
    utimesSync(path, 1, 1);
    expect(await place('two')).to.deep.equal({ result: 'unchanged', state: await fileState(path) });
    expect(statSync(path).mtimeMs).to.equal(1000);
    expect(existsSync(temporary)).to.equal(false);
  });

  it('tells the state of what it has put there, not of what is written over it', async () => {
    const path = home.path('etc', 'shared', 'web', 'agent.conf');
    const { state } = await place('one');
    expect(await fileState(path)).to.equal(state);
    writeFileSync(path, 'other');
    expect(await fileState(path)).not.to.equal(state);
  });

  it('moves a file from another file system too', async function () {
    if (!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync(folder).dev) return this.skip();
    const other = new TemporaryHome(undefined, '/dev/shm');
    try {
      temporary = other.path('x');
      const { result, state } = await place('one');
      expect(result).to.equal('stored');
      expect(readdirSync(folder)).to.deep.equal(['agent.conf']);
      expect(await fileState(home.path('etc', 'shared', 'web', 'agent.conf'))).to.equal(state);
      expect(existsSync(temporary)).to.equal(false);
    } finally {
      other.remove();
    }
  });

  it('replaces a link instead of what it leads to, and follows none', async () => {
    const outside = home.path('etc', 'secret');
    writeFileSync(outside, 'one');
    symlinkSync(outside, home.path('etc', 'shared', 'web', 'agent.conf'));
    expect(await place('one')).to.have.property('result', 'stored');
    expect(await place('two')).to.have.property('result', 'stored');
    expect(readFileSync(outside, 'utf8')).to.equal('one');

    symlinkSync(home.path('etc'), home.path('etc', 'shared', 'link'));
    folder = home.path('etc', 'shared', 'link');
    expect(await errorOf(place('three', 'secret'))).to.have.property('code', 'file');
    expect(readFileSync(outside, 'utf8')).to.equal('one');
    expect(existsSync(temporary)).to.equal(false);
  });

  it('says when the folder is gone or a directory is in the way', async () => {
    mkdirSync(home.path('etc', 'shared', 'web', 'agent.conf'));
    expect(await errorOf(place('one'))).to.have.property('code', 'file');
    folder = home.path('etc', 'shared', 'gone');
    expect(await errorOf(place('one'))).to.have.property('code', 'file');
    expect(readdirSync(home.path('var', 'download'))).to.deep.equal([]);
  });

  it('hashes and describes regular files only', async () => {
    writeFileSync(temporary, 'x');
    expect(await fileHash(temporary)).to.equal(createHash('sha256').update('x').digest('hex'));
    const state = await fileState(temporary);
    expect(state).to.be.a('string');
    writeFileSync(temporary, 'xy');
    expect(await fileState(temporary)).not.to.equal(state);
    symlinkSync(temporary, `${temporary}2`);
    for (const path of [`${temporary}2`, folder, `${temporary}3`]) {
      expect(await fileHash(path)).to.equal(undefined);
      expect(await fileState(path)).to.equal(undefined);
    }
  });

  it('takes a merged file, and nothing else for one', async () => {
    for (const content of ['#web\n!3 agent.conf\nabc!0 a/b.txt\n', '#web\n']) {
      writeFileSync(temporary, content);
      await checkMergedFile(temporary);
    }
    for (const content of [
      '',
      '<html>not found</html>',
      '#web\n!3 agent.conf\nab',
      '#web\n!3 agent.conf\nabcd\n',
      '#web\n!3\nabc',
      '#web\n!3 \nabc',
      '#web\n!x agent.conf\nabc',
      '#web\n!3 ../agent.conf\nabc',
      '#web\n!3 /etc/passwd\nabc',
    ]) {
      writeFileSync(temporary, content);
      expect(await errorOf(checkMergedFile(temporary)), JSON.stringify(content)).to.have.property('code', 'corrupt');
    }
  });
});
