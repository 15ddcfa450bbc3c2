import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { EMPTY_HASHES } from '../../../../../lib/fim/entry-checksum.js';
import { EntryThreads } from '../../../../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../../../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../../../../lib/fim/scan/path-list.js';
import { scanTree } from '../../../../../lib/fim/scan/scan-tree.js';
import { depthBelow, walkTree } from '../../../../../lib/fim/scan/walk-tree.js';
import { WatchedDirectories, watchedDirectories } from '../../../../../lib/fim/scan/watched-directories.js';
import { FimTree, TRAITS } from '../../../../support/syscheckd/fim-tree.js';

describe('scan of a tree', () => {
  let tree: FimTree;
  beforeEach(() => (tree = new FimTree()));
  afterEach(() => tree.remove());

  const write = (path: string, content = 'hello world\n'): void => {
    writeFileSync(tree.path(path), content);
  };
  const names = (map: ReadonlyMap<string, unknown>): string[] => [...map.keys()].sort();

  it('finds files and links with their facts', async () => {
    mkdirSync(tree.path('a/b'), { recursive: true });
    write('a/one');
    write('a/b/empty', '');
    symlinkSync('/etc/passwd', tree.path('a/link'));
    utimesSync(tree.path('a/one'), 1_600_000_000, 1_600_000_000);
    chmodSync(tree.path('a/one'), 0o640);
    const { entries } = await tree.scan();
    expect(names(entries)).to.deep.equal(['a/b/empty', 'a/link', 'a/one']);
    const one = entries.get('a/one')!;
    expect(one).to.include({ kind: 'file', size: 12, mtime: 1_600_000_000, unchanged: false, unsettled: false });
    expect(one.mode & 0o7777).to.equal(0o640);
    expect(one.hashes).to.deep.equal({
      md5: '6f5902ac237024bdd0c176cb93063dc4',
      sha1: '22596363b3de40b06f981fb85d82312e8c0ed511',
      sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
    });
    expect(entries.get('a/b/empty')!.hashes).to.deep.equal(EMPTY_HASHES);
    expect(entries.get('a/link'))
      .to.include({ kind: 'link', size: '/etc/passwd'.length })
      .and.deep.include({ hashes: EMPTY_HASHES });
  });

  it('begins below a configured path when it is told to, and leaves out directories that are refused', async () => {
    mkdirSync(tree.path('a/b/c/d'), { recursive: true });
    mkdirSync(tree.path('a/b/no'));
    for (const path of ['a/1', 'a/b/2', 'a/b/c/3', 'a/b/c/d/4', 'a/b/no/5']) write(path);
    const directories = await watchedDirectories(
      [{ path: tree.path('a'), options: [{ name: 'recursion_level', value: 2 }] }],
      TRAITS,
      {},
    );
    const asked: string[] = [];
    const walk = async (start: string): Promise<string[]> => {
      const paths: string[] = [];
      const parts = {
        directories,
        ignore: new IgnoreList([], {}),
        fileSystems: new FileSystems({ nfs: true, dev: false, sys: true, proc: true }),
        onDirectory: (path: string) => {
          asked.push(path);
          return Promise.resolve(!path.endsWith('/no'));
        },
      };
      for await (const group of walkTree(parts, directories.at(tree.path('a'))!, start)) paths.push(...group.paths);
      return paths.map((path) => path.slice(tree.root.length + 1)).sort();
    };
    expect(await walk(tree.path('a/b'))).to.deep.equal(['a/b/2', 'a/b/c/3']);
    expect(asked.sort()).to.deep.equal(['a/b', 'a/b/c', 'a/b/no'].map((path) => tree.path(path)));
    expect(await walk(tree.path('a/b/c/d'))).to.deep.equal([]);
    expect(await walk(tree.path('a/b/2'))).to.deep.equal(['a/b/2']);
    expect(await walk(tree.path('a'))).to.deep.equal(['a/1', 'a/b/2', 'a/b/c/3']);
  });

  it('knows how deep a path lies', () => {
    expect(depthBelow('/a', '/a')).to.equal(-1);
    expect(depthBelow('/a', '/a/b')).to.equal(0);
    expect(depthBelow('/a', '/a/b/c')).to.equal(1);
    expect(depthBelow('/', '/')).to.equal(-1);
    expect(depthBelow('/', '/a')).to.equal(0);
    expect(depthBelow('/', '/a/b')).to.equal(1);
  });

  it('never opens fifos, sockets and devices, and does not walk in circles', async () => {
    execFileSync('mkfifo', [tree.path('fifo')], { stdio: 'ignore' });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(tree.path('socket'), resolve));
    mkdirSync(tree.path('loop'));
    symlinkSync('..', tree.path('loop', 'up'));
    symlinkSync('nowhere', tree.path('dangling'));
    try {
      const { entries, skipped } = await tree.scan();
      expect(names(entries)).to.deep.equal(['dangling', 'loop/up']);
      expect([...skipped]).to.have.deep.members([
        ['fifo', 'special'],
        ['socket', 'special'],
      ]);
    } finally {
      server.close();
    }
  });

  it('stops at the level of recursion', async () => {
    mkdirSync(tree.path('1/2/3'), { recursive: true });
    for (const path of ['f0', '1/f1', '1/2/f2', '1/2/3/f3']) write(path);
    const level = async (value: number) => names((await tree.scan([['', { name: 'recursion_level', value }]])).entries);
    expect(await level(0)).to.deep.equal(['f0']);
    expect(await level(1)).to.deep.equal(['1/f1', 'f0']);
    expect(await level(2)).to.deep.equal(['1/2/f2', '1/f1', 'f0']);
  });

  it('walks as deep as names go', async () => {
    let path = '';
    for (let depth = 0; depth < 300; depth += 1) path += 'd/';
    mkdirSync(tree.path(path), { recursive: true });
    write(`${path}deep`);
    expect(names((await tree.scan([['', { name: 'recursion_level', value: 320 }]])).entries)).to.deep.equal([
      `${path}deep`,
    ]);
    const { entries, skipped } = await tree.scan();
    expect(entries.size).to.equal(0);
    expect([...skipped.values()]).to.deep.equal(['too_deep']);
  });

  it('leaves a directory with its own options to them', async () => {
    mkdirSync(tree.path('in/out'), { recursive: true });
    for (const path of ['f', 'in/f', 'in/out/f']) write(path);
    const { entries } = await tree.scan([
      ['in', { name: 'check_all', value: false }, { name: 'check_md5sum', value: true }],
      [''],
      ['in/out/f', { name: 'tags', value: ['own'] }],
    ]);
    expect(names(entries)).to.deep.equal(['f', 'in/f', 'in/out/f']);
    expect(entries.get('in/f')!.hashes).to.deep.equal({ md5: '6f5902ac237024bdd0c176cb93063dc4' });
    expect(entries.get('in/out/f')!.directory.tags).to.equal('own');
  });

  it('leaves out what is ignored or does not match', async () => {
    mkdirSync(tree.path('cache'));
    for (const path of ['a.conf', 'a.txt', 'b.CONF.bak', 'cache/x.conf', 'Secret.conf']) write(path);
    const ignore = new IgnoreList(
      [
        { kind: 'path', value: tree.path('CACHE') },
        { kind: 'sregex', value: 'secret' },
      ],
      {},
    );
    const { entries, skipped } = await tree.scan([['', { name: 'restrict', value: '.conf$' }]], { ignore });
    expect(names(entries)).to.deep.equal(['a.conf']);
    expect([...skipped].sort()).to.deep.equal([
      ['Secret.conf', 'ignored'],
      ['a.txt', 'restricted'],
      ['b.CONF.bak', 'restricted'],
      ['cache', 'ignored'],
    ]);
  });

  it('keeps names that are no UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(tree.path('x')), Buffer.from([0xff, 0x0a, 0xc3])]), 'x');
    const { entries } = await tree.scan();
    expect(names(entries)).to.deep.equal(['x\xff\n\xc3']);
  });

  it('does not read again what has rested and is as it was', async () => {
    for (const path of ['same', 'grown', 'touched', 'fresh']) write(path);
    const old = new Date(1_600_000_000_000);
    for (const path of ['same', 'grown', 'touched']) utimesSync(tree.path(path), old, old);
    // The time of the change of an inode cannot be set back, so the reader's clock is what goes on here.
    const { EntryReader } = await import('../../../../../lib/fim/scan/entry-reader.js');
    const { SYSTEM_CALLS } = await import('../../../../../lib/fim/scan/file-calls.js');
    const reader = new EntryReader(
      { maxFileBytes: 1024 },
      SYSTEM_CALLS,
      () => false,
      () => Date.now() + 10_000,
    );
    const stamps = new Map(
      ['same', 'grown', 'touched'].map((path) => {
        const outcome = reader.read(tree.path(path), 448, undefined);
        if (outcome.kind === 'skipped') throw new Error(outcome.reason);
        return [tree.path(path), outcome.stamp] as const;
      }),
    );
    writeFileSync(tree.path('grown'), 'more', { flag: 'a' });
    utimesSync(tree.path('touched'), old, new Date(1_600_000_001_000));
    const { entries } = await tree.scan([['']], { known: (path) => stamps.get(path) });
    expect(entries.get('same')).to.include({ unchanged: true, hashes: undefined, size: 12 });
    for (const path of ['grown', 'touched', 'fresh']) expect(entries.get(path), path).to.include({ unchanged: false });
    expect(entries.get('fresh')!.stamp).to.equal(undefined);
  });

  it('goes past what vanishes', async () => {
    for (let file = 0; file < 600; file += 1) write(`f${file}`);
    const directories = await watchedDirectories([{ path: tree.root, options: [] }], TRAITS, {});
    const gone: string[] = [];
    let found = 0;
    for await (const entries of scanTree({
      directories,
      ignore: new IgnoreList([], {}),
      fileSystems: new FileSystems({ nfs: true, dev: false, sys: true, proc: true }),
      threads: tree.threads,
      maxFilesPerSecond: 0,
      onSkipped: (path, reason) => gone.push(`${reason} ${path}`),
    })) {
      if (found === 0) rmSync(tree.root, { recursive: true });
      found += entries.length;
    }
    expect(found).to.be.at.least(128);
    expect(gone.every((text) => text.startsWith('vanished'))).to.equal(true);
    expect((await tree.scan([['missing']])).skipped).to.deep.equal(new Map([['missing', 'vanished']]));
  });

  it('looks at so many files in a second at most', async () => {
    for (let file = 0; file < 600; file += 1) write(`f${file}`);
    const start = performance.now();
    const { entries } = await tree.scan([['']], { maxFilesPerSecond: 500 });
    // Only waiting is asked for: a slow machine takes longer.
    expect(performance.now() - start).to.be.at.least(900);
    expect(entries.size).to.equal(600);
  });

  it('says which files it may not read', async function () {
    if (process.getuid?.() === 0) this.skip();
    write('locked');
    mkdirSync(tree.path('closed'), { mode: 0 });
    chmodSync(tree.path('locked'), 0);
    expect([...(await tree.scan()).skipped].sort()).to.deep.equal([
      ['closed', 'unreadable'],
      ['locked', 'unreadable'],
    ]);
  });

  it('takes a file or a link as the configured path, and follows the link when told to', async () => {
    write('file');
    mkdirSync(tree.path('real'));
    write('real/inside');
    symlinkSync('real', tree.path('link'));
    expect(names((await tree.scan([['file'], ['link']])).entries)).to.deep.equal(['file', 'link']);
    const { entries } = await tree.scan([['link', { name: 'follow_symbolic_link', value: true }]]);
    expect(names(entries)).to.deep.equal(['real/inside']);
    expect(entries.get('real/inside')!.directory.link).to.equal(tree.path('link'));
  });

  it('leaves out file systems that are not wanted', async () => {
    const directories = await watchedDirectories([{ path: '/proc/self/task', options: [] }], TRAITS, {});
    const { entries, skipped } = await tree.scan([], { directories });
    expect(entries.size).to.equal(0);
    expect([...skipped.values()]).to.deep.equal(['file_system']);
  });

  it('survives a file system that is made up while it is read', async () => {
    const own = `/proc/${process.pid}`;
    const directories = await watchedDirectories([{ path: own, options: [] }], { ...TRAITS, recursionLevel: 1 }, {});
    const fileSystems = new FileSystems({ nfs: true, dev: true, sys: true, proc: false });
    const { entries } = await tree.scan([], { directories, fileSystems });
    // They say that they are empty, and are not read.
    expect([...entries.values()].find(({ path }) => path === `${own}/status`)).to.deep.include({
      hashes: EMPTY_HASHES,
    });
  });

  it('ends when it is called off, in the middle of a large file too', async () => {
    write('large');
    truncateSync(tree.path('large'), 1024 ** 3 - 1);
    const threads = new EntryThreads({ maxFileBytes: 1024 ** 3 }, 1);
    const controller = new AbortController();
    const directories = new WatchedDirectories(
      await watchedDirectories([{ path: tree.root, options: [] }], TRAITS, {}),
    );
    const scan = tree.scan([], { directories, threads, signal: controller.signal });
    setImmediate(() => {
      controller.abort(new Error('called off'));
    });
    let reason: unknown;
    await scan.catch((error: unknown) => (reason = error));
    expect(reason).to.have.property('message', 'called off');
    await threads.close();
    await threads.read(['/x'], 0).then(
      () => expect.fail('a closed set of threads reads'),
      (error: unknown) => expect(error).to.have.property('message').that.includes('closed'),
    );
  });

  it('goes on while files are renamed under it', async () => {
    for (let file = 0; file < 300; file += 1) write(`f${file}`);
    let turn = 0;
    const { entries } = await tree.scan([['']], {
      known: (path) => {
        if (turn++ % 7 === 0) renameSync(path, `${path}-renamed`);
        return undefined;
      },
    });
    expect(entries.size).to.be.at.least(200);
  });
});
