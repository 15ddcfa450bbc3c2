import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { DirectoryOption } from '../../../../../lib/config/sections/syscheck.js';
import { namePattern } from '../../../../../lib/files/name-pattern.js';
import { ALL_CHECKS, CHECKS } from '../../../../../lib/fim/checks.js';
import { expandWildcard } from '../../../../../lib/fim/scan/expand-wildcard.js';
import { mountOptions } from '../../../../../lib/fim/scan/file-systems.js';
import { IgnoreList, NodiffList } from '../../../../../lib/fim/scan/path-list.js';
import { watchedDirectories } from '../../../../../lib/fim/scan/watched-directories.js';
import { directoryTraits, optionText } from '../../../../../lib/fim/scan/watched-directory.js';
import { TRAITS } from '../../../../support/syscheckd/fim-tree.js';

const ALL_OFF: DirectoryOption = { name: 'check_all', value: false };
const MD5_ON: DirectoryOption = { name: 'check_md5sum', value: true };

describe('configured paths', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'svc-paths-'))));
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  const paths = async (...written: string[]) => [
    ...(await watchedDirectories(
      written.map((path) => ({ path, options: [] })),
      TRAITS,
      { LIST: '/b:/a/', EMPTY: '' },
    )),
  ];

  it('take their attributes from left to right', () => {
    expect(directoryTraits([], TRAITS).checks).to.equal(ALL_CHECKS);
    expect(directoryTraits([ALL_OFF, MD5_ON], TRAITS).checks).to.equal(CHECKS.hash_md5);
    expect(directoryTraits([MD5_ON, ALL_OFF], TRAITS).checks).to.equal(0);
    const both = directoryTraits(
      [
        { name: 'whodata', value: true },
        { name: 'realtime', value: true },
      ],
      TRAITS,
    );
    expect(both.mode).to.equal('whodata');
  });

  it('tell their options as the log shows them', async () => {
    const [directory] = await paths('/etc');
    expect(optionText(directory!)).to.equal(
      'size | permissions | owner | group | mtime | inode | hash_md5 | hash_sha1 | hash_sha256 | scheduled',
    );
    expect(optionText({ ...directory!, checks: CHECKS.size, reportChanges: true, mode: 'realtime' })).to.equal(
      'size | report_changes | realtime',
    );
  });

  it('are put in order, the last of two alike counts', async () => {
    const directories = await watchedDirectories(
      [
        { path: '/b/', options: [] },
        { path: '/B', options: [] },
        { path: '/b', options: [ALL_OFF] },
      ],
      TRAITS,
      {},
    );
    expect([...directories].map(({ path, checks }) => [path, checks])).to.deep.equal([
      ['/B', ALL_CHECKS],
      ['/b', 0],
    ]);
  });

  it('come from variables, whole ones alone', async () => {
    expect((await paths('$LIST')).map(({ path }) => path)).to.deep.equal(['/a', '/b']);
    const directories = await watchedDirectories([{ path: '$HOME/x', options: [] }], TRAITS, { HOME: '/root' });
    expect(directories.size).to.equal(0);
    expect(directories.problems[0]!.text).to.equal('(6718): Could not expand the environment variable HOME/x.');
  });

  it('come from wildcards, and are no match when they are written out', async () => {
    for (const name of ['one', 'two', 'other', '.hidden']) mkdirSync(join(root, name, 'etc'), { recursive: true });
    writeFileSync(join(root, 'two', 'etc', 'f'), '');
    const names = async (...written: string[]) =>
      (await paths(...written.map((path) => `${root}/${path}`))).map(
        ({ path, wildcard }) => `${path.slice(root.length + 1)}${wildcard === undefined ? '' : ' *'}`,
      );
    expect(await names('*')).to.deep.equal(['one *', 'other *', 'two *']);
    expect(await names('o*/etc', 'one/etc')).to.deep.equal(['one/etc', 'other/etc *']);
    expect(await names('[!o]*/e?c/[f]')).to.deep.equal(['two/etc/f *']);
    expect(await names('.h*')).to.deep.equal(['.hidden *']);
    expect(await expandWildcard('/nowhere-at-all/*')).to.deep.equal([]);
  });

  it('tell what lies below a wildcard, be it there or not', async () => {
    const directories = await watchedDirectories(
      [
        { path: '/srv/*/conf.[ab]', options: [] },
        { path: '/opt', options: [] },
      ],
      { recursionLevel: 256, diffSizeLimit: 1 },
      {},
    );
    for (const path of ['/srv/x/conf.a', '/srv/x/conf.b/deep/file']) {
      expect(directories.isBelowWildcard(path), path).to.equal(true);
    }
    for (const path of ['/srv/x', '/srv/x/conf.c/file', '/srv/.x/conf.a', '/srv/x/y/conf.a', '/opt/file']) {
      expect(directories.isBelowWildcard(path), path).to.equal(false);
    }
  });

  it('decide about a path by the longest, name by name', async () => {
    const directories = await watchedDirectories(
      ['/', '/etc', '/etc/ssh/keys'].map((path) => ({ path, options: [] })),
      TRAITS,
      {},
    );
    const decides = (path: string) => directories.decides(path)?.path;
    expect(decides('/etc')).to.equal('/etc');
    expect(decides('/etcetera')).to.equal('/');
    expect(decides('/etc/ssh/key')).to.equal('/etc');
    expect(decides('/etc/ssh/keys/a/b')).to.equal('/etc/ssh/keys');
    expect((await watchedDirectories([], TRAITS, {})).decides('/etc')).to.equal(undefined);
  });

  it('are what a link leads to when it is followed', async () => {
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    symlinkSync('nowhere', join(root, 'dangling'));
    const directories = await watchedDirectories(
      ['link', 'dangling'].map((name) => ({
        path: join(root, name),
        options: [{ name: 'follow_symbolic_link', value: true } as const],
      })),
      TRAITS,
      {},
    );
    expect([...directories].map(({ path, link }) => [path, link])).to.deep.equal([
      [join(root, 'dangling'), undefined],
      [join(root, 'real'), join(root, 'link')],
    ]);
  });

  it('match names as a plain search for all ways would', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', ']', '-'), maxLength: 6 });
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '[a-b]', '[]]'), maxLength: 6 });
    fc.assert(
      fc.property(part, name, (wildcard, text) => {
        const source = wildcard.replace(
          /\[\]\]|\[!|[*?]/g,
          (found) => ({ '[]]': '\\]', '[!': '[^', '*': '.*' })[found] ?? '.',
        );
        expect(namePattern(wildcard).test(text)).to.equal(new RegExp(`^${source}$`).test(text));
      }),
    );
    const hostile = namePattern('*a'.repeat(100));
    expect(hostile.test(`${'a'.repeat(255)}b`)).to.equal(false);
  });
});

describe('lists of paths', () => {
  it('ignore what begins alike, whatever the case', () => {
    const list = new IgnoreList([{ kind: 'path', value: '/etc/MTAB' }], {});
    expect(list.ignores('/etc/mtab', false)).to.equal(true);
    expect(list.ignores('/etc/mtab.bak', false)).to.equal(true);
    expect(list.ignores('/etc/mta', false)).to.equal(false);
    expect(list.ignores('/a/etc/mtab', false)).to.equal(false);
  });

  it('let a negated pattern into directories', () => {
    const list = new IgnoreList([{ kind: 'sregex', value: '!.conf$' }], {});
    expect(list.ignores('/etc/ssh', true)).to.equal(false);
    expect(list.ignores('/etc/ssh/moduli', false)).to.equal(true);
    expect(list.ignores('/etc/ssh/a.conf', false)).to.equal(false);
  });

  it('hold back the changes of exactly the files named', () => {
    const list = new NodiffList(
      [
        { kind: 'path', value: '/etc/shadow' },
        { kind: 'path', value: '$KEYS' },
        { kind: 'sregex', value: '.key$' },
      ],
      { KEYS: '/a:/b' },
    );
    expect(['/etc/shadow', '/a', '/b', '/x/Y.KEY'].every((path) => list.includes(path))).to.equal(true);
    expect(['/etc/shadow-', '/etc/Shadow', '/ab', '/x.keys'].some((path) => list.includes(path))).to.equal(false);
  });

  it('find the options of the mount a path is on', () => {
    const mounts = [
      '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
      '23 22 0:5 / /dev rw,nosuid - devtmpfs udev rw',
      '24 22 0:20 / /my\\040tmp rw,nosuid,nodev - tmpfs tmpfs rw',
      'torn line',
    ].join('\n');
    expect(mountOptions(mounts, '/dev/shm')).to.deep.equal(['rw', 'nosuid']);
    expect(mountOptions(mounts, '/device')).to.deep.equal(['rw', 'relatime']);
    expect(mountOptions(mounts, '/my tmp/x')).to.include('nodev');
    expect(mountOptions('', '/x')).to.deep.equal([]);
  });
});
