import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  NotRegularFileError,
  openRegularFile,
  type RegularFileOptions,
  withRegularFile,
  withRegularFileSync,
} from '../../../../lib/files/regular-file.js';

describe('A regular file', () => {
  let directory: string;
  const path = (name: string): string => join(directory, name);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-file-'));
    writeFileSync(path('file'), 'content');
    symlinkSync('file', path('link'));
    symlinkSync('nowhere', path('dangling'));
    mkdirSync(path('directory'));
    execFileSync('mkfifo', [path('pipe')]);
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  /** Both ways of opening must judge alike. */
  async function refusal(name: string, options: RegularFileOptions = {}): Promise<string> {
    const messages = [
      await withRegularFile(path(name), () => Promise.reject(new Error('was opened')), options).catch(said),
      await Promise.resolve()
        .then(() => withRegularFileSync(path(name), () => Promise.reject(new Error('was opened')), options))
        .catch(said),
    ];
    expect(messages[0]).to.equal(messages[1]);
    return messages[0]?.replace(directory, '') ?? '';
  }

  it('is read, with what it leads to', () => {
    const [text, size] = withRegularFileSync(path('file'), (fd, stats) => [readFileSync(fd, 'utf8'), stats.size]);
    expect([text, size]).to.deep.equal(['content', 7]);
  });

  it('is no link, directory, pipe or device, however it is to be opened', async () => {
    for (const access of ['read', 'write', 'update', 'append'] as const) {
      expect(await refusal('link', { access }), access).to.equal("NotRegularFileError: '/link' is a link");
      expect(await refusal('directory', { access }), access).to.equal(
        "NotRegularFileError: '/directory' is not a regular file",
      );
      expect(await refusal('pipe', { access }), access).to.equal("NotRegularFileError: '/pipe' is not a regular file");
      const device = await openRegularFile('/dev/null', { access }).catch(said);
      expect(device, access).to.equal("NotRegularFileError: '/dev/null' is not a regular file");
    }
  });

  it('is not made through a link that leads nowhere', async () => {
    expect(await refusal('dangling', { access: 'write', makeMode: 0o600 })).to.equal(
      "NotRegularFileError: '/dangling' is a link",
    );
  });

  it('is found through a link where that is asked for', () => {
    expect(withRegularFileSync(path('link'), (fd) => readFileSync(fd, 'utf8'), { follow: true })).to.equal('content');
  });

  it('is made where there is none, with its mode, and only where that is asked for', async () => {
    expect(await refusal('new', { access: 'write' })).to.match(/^Error: ENOENT/);
    await withRegularFile(path('new'), (file) => file.write('made'), { access: 'write', makeMode: 0o600 });
    expect(readFileSync(path('new'), 'utf8')).to.equal('made');
    expect(statSync(path('new')).mode & 0o777).to.equal(0o600);
  });

  it('is written over, or goes on at its end', () => {
    withRegularFileSync(path('file'), (fd) => writeSync(fd, 'CON'), { access: 'update' });
    withRegularFileSync(path('file'), (fd) => writeSync(fd, '!'), { access: 'append' });
    expect(readFileSync(path('file'), 'utf8')).to.equal('CONtent!');
  });

  it('is closed when the work on it fails', async () => {
    let fd = -1;
    await withRegularFile(path('file'), (file) => {
      ({ fd } = file);
      return Promise.reject(new Error('failed'));
    }).catch(said);
    expect(() => statSync(`/proc/self/fd/${String(fd)}`)).to.throw('ENOENT');
    expect(() =>
      withRegularFileSync(path('file'), (descriptor) => {
        fd = descriptor;
        throw new Error('failed');
      }),
    ).to.throw('failed');
    expect(() => statSync(`/proc/self/fd/${String(fd)}`)).to.throw('ENOENT');
  });

  it('is an error of its own kind for those who ask', () => {
    expect(() => withRegularFileSync(path('link'), () => 0))
      .to.throw(NotRegularFileError)
      .with.property('isLink', true);
    expect(() => withRegularFileSync(path('pipe'), () => 0))
      .to.throw(NotRegularFileError)
      .with.property('isLink', false);
  });
});

function said(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
