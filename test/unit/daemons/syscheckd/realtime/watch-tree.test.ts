import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { WatchTree } from '../../../../../daemons/syscheckd/realtime/watch-tree.js';
import { bytesOf } from '../../../../../lib/fim/byte-order.js';
import { eventually } from '../../../../support/eventually.js';

describe('tree of watches', () => {
  let root: string;
  let tree: WatchTree;
  let told: Set<string>;
  let counts: number[];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-watch-'));
    told = new Set();
    counts = [];
    let inTurn = 0;
    tree = new WatchTree({
      changed: (path) => told.add(path),
      counted: (events) => {
        if (inTurn === 0) {
          setImmediate(() => {
            counts.push(inTurn);
            inTurn = 0;
          });
        }
        inTurn += events;
      },
    });
  });
  afterEach(async () => {
    tree.unwatch('/');
    tree.watchNames(root, []);
    await eventually('the watches end', () => tree.watches === 0);
    rmSync(root, { recursive: true, force: true });
  });

  const path = (...parts: readonly string[]): string => join(root, ...parts);
  const make = (...parts: readonly string[]): string => {
    mkdirSync(path(...parts), { recursive: true });
    return path(...parts);
  };
  const write = (...parts: readonly string[]): void => {
    writeFileSync(path(...parts), 'x');
  };
  const isTold = (...parts: readonly string[]): Promise<boolean> =>
    eventually(`${join(...parts)} is told of`, () => told.has(path(...parts)));

  it('tells of files that are made, written, changed in their rights, moved and removed', async () => {
    make('a');
    expect(tree.watch(path('a'))).to.equal('fresh');
    expect(tree.watch(path('a'))).to.equal('watching');
    expect(tree.watches).to.equal(1);
    write('a', 'one');
    await isTold('a', 'one');
    for (const change of [
      () => {
        write('a', 'one');
      },
      () => {
        chmodSync(path('a', 'one'), 0o600);
      },
      () => {
        renameSync(path('a', 'one'), path('one'));
      },
    ]) {
      told.clear();
      change();
      await isTold('a', 'one');
    }
    renameSync(path('one'), path('a', 'two'));
    await isTold('a', 'two');
    told.clear();
    rmSync(path('a', 'two'));
    await isTold('a', 'two');
  });

  it('tells of names that are no UTF-8, in directories that are none', async () => {
    const directory = `${root}/d\xff`;
    mkdirSync(bytesOf(directory));
    expect(tree.watch(directory)).to.equal('fresh');
    writeFileSync(bytesOf(`${directory}/\xfe\x01`), '');
    await eventually('it is told of', () => told.has(`${directory}/\xfe\x01`));
  });

  it('tells of the directory itself when it goes, and watches its successor of the same name and inode', async () => {
    make('a');
    tree.watch(path('a'));
    rmSync(path('a'), { recursive: true });
    make('a');
    await isTold('a');
    expect(tree.watch(path('a'))).to.equal('exchanged');
    expect(tree.watches).to.equal(1);
    write('a', 'file');
    await isTold('a', 'file');
  });

  it('watches a moved directory under its new name, and no more under its old one', async () => {
    make('a', 'sub');
    tree.watch(path('a'));
    tree.watch(path('a', 'sub'));
    renameSync(path('a'), path('b'));
    await isTold('a');
    expect(tree.watch(path('b'))).to.equal('fresh');
    expect(tree.watch(path('b', 'sub'))).to.equal('fresh');
    expect(tree.watch(path('a'))).to.equal('vanished');
    expect(tree.watches).to.equal(2);
    write('b', 'sub', 'file');
    await isTold('b', 'sub', 'file');
    told.clear();
    write('b', 'sub', 'other');
    await isTold('b', 'sub', 'other');
    expect([...told]).to.deep.equal([path('b', 'sub', 'other')]);
  });

  it('ends what is watched below a directory when another one takes its place', async () => {
    make('a', 'sub');
    make('other', 'sub');
    tree.watch(path('a'));
    tree.watch(path('a', 'sub'));
    renameSync(path('a'), path('away'));
    renameSync(path('other'), path('a'));
    expect(tree.watch(path('a'))).to.equal('exchanged');
    expect(tree.watches).to.equal(1);
    expect(tree.watch(path('a', 'sub'))).to.equal('fresh');
    write('a', 'sub', 'file');
    await isTold('a', 'sub', 'file');
  });

  for (const moved of ['above/a', 'above']) {
    it(`takes a directory that was away for another one when ${moved} was moved`, async () => {
      make('above', 'a', 'sub');
      tree.watchNames(root, ['above']);
      tree.watchNames(path('above'), ['a']);
      const watched = [path('above', 'a'), path('above', 'a', 'sub')];
      const watch = () => watched.map((directory) => tree.watch(directory));
      watch();
      const before = watch();
      renameSync(path(moved), path('away'));
      renameSync(path('away'), path(moved));
      await isTold(moved);
      const after = watch();
      tree.watchNames(path('above'), []);
      expect({ before, after }).to.deep.equal({ before: ['watching', 'watching'], after: ['exchanged', 'fresh'] });
    });
  }

  it('follows no link in the place of a directory, and watches directories alone', () => {
    make('a');
    symlinkSync(path('a'), path('link'));
    write('file');
    for (const name of ['link', 'file', 'none']) expect(tree.watch(path(name)), name).to.equal('vanished');
    expect(tree.watch('relative')).to.equal('failed');
    expect(tree.watches).to.equal(0);
  });

  it('tells of the names asked for alone where it is asked for names', async () => {
    expect(tree.watchNames(root, ['wanted'])).to.equal('fresh');
    expect(tree.watchNames(root, ['wanted'])).to.equal('watching');
    expect(tree.watchNames(root, ['wanted', 'also'])).to.equal('fresh');
    write('other');
    write('also');
    await isTold('also');
    expect([...told]).to.deep.equal([path('also')]);
    // Watched whole as well, neither takes anything from the other.
    expect(tree.watch(root)).to.equal('fresh');
    write('more');
    await isTold('more');
    tree.unwatch(root);
    told.clear();
    write('unwanted');
    write('wanted');
    await isTold('wanted');
    expect([...told]).to.deep.equal([path('wanted')]);
    expect(tree.watchNames(root, [])).to.equal('watching');
    expect(tree.watches).to.equal(0);
  });

  it('ends thousands of watches in pieces', async () => {
    for (let at = 0; at < 1500; at += 1) tree.watch(make('many', String(at)));
    expect(tree.watches).to.equal(1500);
    expect(tree.unwatch(path('many'))).to.equal(true);
    expect(tree.unwatch(path('many'))).to.equal(false);
    expect(tree.watches).to.equal(0);
    await eventually('all are ended', () => counts.reduce((sum, count) => sum + count, 0) >= 1500);
    expect(Math.max(...counts)).to.be.below(1500);
  });

  it('gets all that the kernel has kept within one turn of the loop', async () => {
    make('a');
    tree.watch(path('a'));
    // The loop does not go on while they are made: as if the thread got no processor.
    for (let at = 0; at < 6000; at += 1) mkdirSync(path('a', String(at)));
    await isTold('a', '5999');
    expect(told.size).to.equal(6000);
    await eventually('the turn is over', () => counts.length > 0);
    expect(counts[0]).to.be.at.least(6000);
  });

  it('says when the system gives no more watches, and no instance at all', function () {
    const module = fileURLToPath(new URL('../../../../../daemons/syscheckd/realtime/watch-tree.js', import.meta.url));
    make('1');
    make('2');
    make('3');
    const script = `
      const { WatchTree } = await import(${JSON.stringify(module)});
      const tree = new WatchTree({ changed() {}, counted() {} });
      const all = ['1', '2', '3'].map((name) => tree.watch(${JSON.stringify(`${root}/`)} + name));
      process.stdout.write(all.join());
      process.exit();`;
    const limited = (option: string, most: number) =>
      spawnSync(
        'unshare',
        ['-Ur', 'sh', '-c', `echo ${most} > /proc/sys/user/${option} && exec "$0" --input-type=module -e "$1"`].concat(
          process.execPath,
          script,
        ),
        { stdio: 'pipe', encoding: 'utf8', timeout: 30_000 },
      );
    const watches = limited('max_inotify_watches', 2);
    // Not every host lets its users have limits of their own.
    if (watches.status !== 0) this.skip();
    expect(watches.stdout).to.equal('fresh,fresh,limit');
    expect(limited('max_inotify_instances', 0).stdout).to.equal('limit,limit,limit');
  });
});
