import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { expect } from 'chai';
import { checkDev } from '../../../../lib/rootcheck/check-dev.js';
import { checkFiles } from '../../../../lib/rootcheck/check-files.js';
import { checkSys } from '../../../../lib/rootcheck/check-sys.js';
import { RootcheckIgnore } from '../../../../lib/rootcheck/rootcheck-ignore.js';
import type { RootcheckSettings } from '../../../../lib/rootcheck/rootcheck-settings.js';
import { SYSTEM_TREE, type TreeCalls } from '../../../../lib/rootcheck/tree-calls.js';
import { RootcheckTree } from '../../../support/syscheckd/rootcheck-kit.js';

const EXT = 0xef53;
const BTRFS = 0x9123683e;
const FUSE = 0x65735546;
const SYSFS = 0x62656572;
const NFS = 0x6969;
const asRoot = process.getuid?.() === 0;

describe('rootcheck in trees', () => {
  let tree: RootcheckTree;
  beforeEach(() => {
    tree = new RootcheckTree();
  });
  afterEach(() => {
    tree.remove();
  });

  const text = (path: Buffer): string => path.toString('latin1');
  /** What is below a directory of that name is on another device. */
  const mounted =
    (name: string): TreeCalls['lstat'] =>
    (path) => {
      const stats = SYSTEM_TREE.lstat(path);
      if (stats !== undefined && text(path).includes(name)) stats.dev += 1n;
      return stats;
    };
  const sys = async (
    calls: Partial<TreeCalls> = {},
    settings: Partial<RootcheckSettings> = {},
    anywhere: ReadonlyMap<string, string> = new Map(),
  ): Promise<string[]> => {
    const context = tree.context(settings);
    const ignore = new RootcheckIgnore(context.settings.ignore);
    await checkSys(context, { calls: { ...SYSTEM_TREE, ...calls }, ignore, anywhere });
    return tree.findings.splice(0);
  };

  describe('files', () => {
    const found = ["Rootkit 'Kit' detected by the presence of file '%/tmp/kit'."];
    const files = async (calls: Partial<TreeCalls> = {}, ignore: RootcheckSettings['ignore'] = []) => {
      const entries = [{ path: '/tmp/kit', name: 'Kit' }];
      await checkFiles(tree.context(), { ...SYSTEM_TREE, ...calls }, entries, new RootcheckIgnore(ignore));
      return tree.findings.splice(0);
    };

    it('finds files and directories', async () => {
      expect(await files()).to.be.empty;
      tree.write('tmp/kit');
      expect(await files()).to.deep.equal(found);
      expect(await files({}, [{ kind: 'path', value: tree.path('tmp/kit') }])).to.be.empty;
      unlinkSync(tree.path('tmp/kit'));
      mkdirSync(tree.path('tmp/kit'));
      expect(await files()).to.deep.equal(found);
    });

    it('finds what is hidden from most calls', async () => {
      const absent = (): never => {
        throw Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open' });
      };
      const blind: Partial<TreeCalls> = { lstat: () => undefined, entries: absent, open: absent, access: absent };
      tree.write('tmp/kit');
      expect(await files(blind)).to.be.empty;
      expect(await files({ ...blind, access: SYSTEM_TREE.access })).to.deep.equal(found);
      expect(await files({ ...blind, open: SYSTEM_TREE.open })).to.deep.equal(found);
      unlinkSync(tree.path('tmp/kit'));
      mkdirSync(tree.path('tmp/kit'));
      expect(await files({ ...blind, entries: SYSTEM_TREE.entries })).to.deep.equal(found);
    });
  });

  describe('dev', () => {
    const dev = async (calls: Partial<TreeCalls> = {}, ignore: RootcheckSettings['ignore'] = []) => {
      await checkDev(tree.context(), { ...SYSTEM_TREE, ...calls }, new RootcheckIgnore(ignore));
      return tree.findings.splice(0).sort();
    };

    it('finds regular files, but not those that are usual', async () => {
      expect(await dev()).to.be.empty;
      for (const name of ['MAKEDEV', 'shm/segment', 'pts/.udev/db', 'bus/usb/.usbfs/x']) tree.write(`dev/${name}`);
      symlinkSync('/proc/kcore', tree.path('dev/core'));
      expect(await dev()).to.be.empty;
      tree.write('dev/.kit');
      tree.write('dev/deep/down/below');
      expect(await dev()).to.deep.equal([
        "File '%/dev/.kit' present on /dev. Possible hidden file.",
        "File '%/dev/deep/down/below' present on /dev. Possible hidden file.",
      ]);
      const ignore: RootcheckSettings['ignore'] = [
        { kind: 'path', value: tree.path('dev/deep') },
        { kind: 'sregex', value: 'kit$' },
      ];
      expect(await dev({}, ignore)).to.be.empty;
    });

    it('leaves alone what is mounted there', async () => {
      tree.write('dev/mqueue/queue');
      tree.write('dev/mqueue-log');
      expect(await dev({ lstat: mounted('mqueue') })).to.be.empty;
      expect(await dev()).to.have.length(2);
    });

    it('cannot be made to look like two findings by a name', async () => {
      tree.write("dev/a\nFile 'b");
      expect(await dev()).to.deep.equal(["File '%/dev/a\\x0aFile 'b' present on /dev. Possible hidden file."]);
    });
  });

  describe('sys', () => {
    it('finds nothing in a tree where all is well', async () => {
      for (const name of ['etc/passwd', 'usr/bin/ls', 'etc/deep/down/file', 'var/log/syslog']) tree.write(name, 'text');
      symlinkSync('usr/bin', tree.path('bin'));
      symlinkSync('/nowhere', tree.path('etc/link'));
      expect(await sys()).to.be.empty;
      expect(tree.notes).to.be.empty;
    });

    (asRoot ? it : it.skip)('finds files of root that anyone may write to', async () => {
      chmodSync(tree.write('etc/open', 'x'), 0o666);
      chmodSync(tree.write('usr/local/deep/open', 'x'), 0o602);
      chmodSync(tree.write('opt/open', 'x'), 0o666);
      chmodSync(tree.write('etc/closed', 'x'), 0o664);
      chmodSync(tree.write('etc/foreign', 'x'), 0o666);
      chownSync(tree.path('etc/foreign'), 65_534, 65_534);
      const finding = (path: string) => `File '%/${path}' is owned by root and has written permissions to anyone.`;
      expect(await sys()).to.have.members([finding('etc/open'), finding('usr/local/deep/open')]);
      const all = await sys({}, { scanAll: true });
      expect(all).to.have.members(['etc/open', 'usr/local/deep/open', 'opt/open'].map(finding));
      expect(await sys({}, { ignore: [{ kind: 'path', value: tree.path('etc') }] })).to.deep.equal([
        finding('usr/local/deep/open'),
      ]);
    });

    it('finds names that tell of a rootkit wherever they are', async () => {
      tree.write('var/lib/deep/kit');
      mkdirSync(tree.path('etc/kit'), { recursive: true });
      tree.write('proc/kit');
      expect(await sys({}, { scanAll: true }, new Map([['kit', 'Kit']]))).to.have.members([
        "Rootkit 'Kit' detected by the presence of file '%/var/lib/deep/kit'.",
        "Rootkit 'Kit' detected by the presence of file '%/etc/kit'.",
      ]);
    });

    it('finds files that are longer or shorter than they say', async () => {
      for (const name of ['etc/longer', 'etc/shorter', 'etc/right', 'var/log/longer']) tree.write(name, 'content');
      const names = new Map<number, string>();
      const calls: Partial<TreeCalls> = {
        fileSystem: () => EXT,
        open: (path) => {
          const descriptor = SYSTEM_TREE.open(path);
          names.set(descriptor, text(path));
          return descriptor;
        },
        fstat: (descriptor) => {
          const stats = SYSTEM_TREE.fstat(descriptor);
          const name = names.get(descriptor) ?? '';
          if (name.endsWith('longer')) stats.size -= 2n;
          if (name.endsWith('shorter')) stats.size += 300_000n;
          return stats;
        },
      };
      const anomaly = (path: string) =>
        `Anomaly detected in file '%/${path}'. File size doesn't match what we found. Possible kernel level rootkit.`;
      const sizes = (found: string[]) => found.filter((each) => each.includes('size'));
      expect(sizes(await sys(calls))).to.have.members([anomaly('etc/longer'), anomaly('etc/shorter')]);
      expect(sizes(await sys(calls, { readAll: true }))).to.include(anomaly('var/log/longer'));
      expect(await sys({ ...calls, fileSystem: () => FUSE }), 'of a file system of programs').to.be.empty;
    });

    it('takes a file that grows for no anomaly', async () => {
      const path = tree.write('etc/growing', 'x');
      const fstat: TreeCalls['fstat'] = (descriptor) => {
        const stats = SYSTEM_TREE.fstat(descriptor);
        appendFileSync(path, 'more');
        return stats;
      };
      expect(await sys({ fstat })).to.be.empty;
    });

    it('finds what is listed and not there', async () => {
      tree.write('etc/hidden');
      const lstat: TreeCalls['lstat'] = (path) => (text(path).endsWith('hidden') ? undefined : SYSTEM_TREE.lstat(path));
      expect(await sys({ lstat })).to.deep.equal([
        "Anomaly detected in file '%/etc/hidden'. Hidden from stats, but showing up on readdir. " +
          'Possible kernel level rootkit.',
      ]);
    });

    it('takes a file that is deleted while it looks for no hidden one', async () => {
      const path = tree.write('etc/short-lived');
      const lstat: TreeCalls['lstat'] = (asked) => {
        if (text(asked) === path) renameSync(path, tree.path('gone'));
        return SYSTEM_TREE.lstat(asked);
      };
      expect(await sys({ lstat })).to.be.empty;
    });

    it('finds directories with fewer names than links', async () => {
      for (const name of ['one', 'two']) mkdirSync(tree.path(`etc/${name}`), { recursive: true });
      tree.write('etc/file');
      const counting = (type: number, links: bigint): Partial<TreeCalls> => ({
        fileSystem: () => type,
        lstat: (path) => {
          const stats = SYSTEM_TREE.lstat(path);
          if (stats?.isDirectory() === true) {
            stats.nlink = text(path).endsWith('/etc') ? links : 2n;
            stats.size = 4096n;
          }
          return stats;
        },
      });
      expect(await sys(counting(EXT, 4n))).to.be.empty;
      expect(await sys(counting(EXT, 5n))).to.deep.equal([
        "Files hidden inside directory '%/etc'. Link count does not match number of files (4,5).",
      ]);
      expect(await sys(counting(EXT, 1n)), 'where links are not counted').to.be.empty;
      expect(await sys(counting(BTRFS, 5n)), 'where they mean nothing').to.be.empty;
    });

    it('stays out of file systems that hold no files, and out of others when it is to', async () => {
      const anywhere = new Map([['kit', 'Kit']]);
      tree.write('etc/other/kit');
      const calls = (type: number): Partial<TreeCalls> => ({
        fileSystem: (path) => (path.endsWith('/other') ? type : statfsSync(path).type >>> 0),
        lstat: mounted('other'),
      });
      expect(await sys({}, {}, anywhere)).to.have.length(1);
      expect(await sys(calls(SYSFS), {}, anywhere)).to.be.empty;
      expect(await sys(calls(NFS), { skipNfs: true }, anywhere)).to.be.empty;
      expect(await sys(calls(NFS), { skipNfs: false }, anywhere)).to.have.length(1);
    });
  });
});
