import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PackageError, PackageFile } from '../../../../daemons/modulesd/upgrade/package-file.js';
import { MAX_PACKAGE_BYTES } from '../../../../daemons/modulesd/upgrade/upgrade-limits.js';

describe('a package', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-packages-'));
    writeFileSync(join(folder, 'one.wpk'), 'content');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const refusal = async (path: string): Promise<PackageError> => {
    try {
      (await PackageFile.open(folder, path)).close();
    } catch (error) {
      expect(error).to.be.instanceOf(PackageError);
      return error as PackageError;
    }
    throw new Error(`${path} was opened`);
  };

  it('is read in pieces, with the sum of what was opened', async () => {
    const file = await PackageFile.open(folder, 'one.wpk');
    rmSync(join(folder, 'one.wpk'));
    writeFileSync(join(folder, 'one.wpk'), 'another');
    const pieces: string[] = [];
    for await (const piece of file.chunks(3)) pieces.push(piece.toString());
    expect(pieces).to.deep.equal(['con', 'ten', 't']);
    expect(await file.sha1()).to.equal(hash('sha1', 'content', 'hex'));
    file.close();
  });

  it('that is cut short while it is sent is an error', async () => {
    const file = await PackageFile.open(folder, 'one.wpk');
    truncateSync(join(folder, 'one.wpk'), 2);
    const sum = await file.sha1().catch((error: unknown) => error);
    expect(sum).to.be.instanceOf(PackageError);
    file.close();
  });

  it('is no link, nothing outside, nothing empty or too large, and no pipe', async () => {
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'deep', 'two.wpk'), 'x');
    symlinkSync(join(folder, 'one.wpk'), join(folder, 'link.wpk'));
    symlinkSync(join(folder, 'deep'), join(folder, 'way'));
    writeFileSync(join(folder, 'empty.wpk'), '');
    writeFileSync(join(folder, 'large.wpk'), '');
    truncateSync(join(folder, 'large.wpk'), MAX_PACKAGE_BYTES + 1);
    execFileSync('mkfifo', [join(folder, 'pipe.wpk')]);
    (await PackageFile.open(folder, 'deep/two.wpk')).close();
    expect(await refusal('none.wpk')).to.deep.include({ absent: true, message: 'there is no var/upgrade/none.wpk' });
    expect((await refusal('link.wpk')).message).to.match(/ a link or no folder is on the way$/);
    expect((await refusal('way/two.wpk')).message).to.match(/ a link or no folder is on the way$/);
    expect((await refusal('../x.wpk')).message).to.match(/names no file below$/);
    expect((await refusal('empty.wpk')).message).to.match(/ is empty$/);
    expect(await refusal('large.wpk')).to.deep.include({
      absent: false,
      message: 'var/upgrade/large.wpk is larger than 512 MiB',
    });
    expect((await refusal('pipe.wpk')).message).to.match(/ is no regular file$/);
    expect((await refusal('deep')).message).to.match(/ is no regular file$/);
  });
});
