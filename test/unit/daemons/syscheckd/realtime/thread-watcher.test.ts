import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ThreadWatcher } from '../../../../../daemons/syscheckd/realtime/thread-watcher.js';
import { eventually } from '../../../../support/eventually.js';

describe('watcher in a thread', () => {
  let root: string;
  let watcher: ThreadWatcher;
  const told = new Set<string>();
  let overflows = 0;
  let failure: Error | undefined;
  const start = (overflowAt?: number): void => {
    watcher = new ThreadWatcher(overflowAt);
    watcher.onChange((paths) => {
      for (const path of paths) told.add(path);
    });
    watcher.onOverflow(() => (overflows += 1));
    watcher.onFailure((error) => (failure = error));
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-watch-'));
    told.clear();
    overflows = 0;
    failure = undefined;
  });
  afterEach(async () => {
    await watcher.close();
    rmSync(root, { recursive: true, force: true });
    expect(failure).to.equal(undefined);
  });

  it('answers orders in their order and tells of changes in groups', async () => {
    start();
    mkdirSync(join(root, 'a'));
    expect(
      await Promise.all([
        watcher.watch(root),
        watcher.watch(join(root, 'a')),
        watcher.watch(join(root, 'a')),
        watcher.watch(join(root, 'none')),
      ]),
    ).to.deep.equal(['fresh', 'fresh', 'watching', 'vanished']);
    expect(watcher.watches).to.equal(2);
    for (let at = 0; at < 100; at += 1) writeFileSync(join(root, 'a', String(at)), '');
    await eventually('all are told of', () => told.size >= 100);
    expect(await watcher.unwatch([join(root, 'none'), root, join(root, 'a')])).to.deep.equal([root]);
    expect(watcher.watches).to.equal(0);
    expect(await watcher.watchNames(root, ['b'])).to.equal('fresh');
    expect(watcher.watches).to.equal(1);
    told.clear();
    writeFileSync(join(root, 'a', 'more'), '');
    writeFileSync(join(root, 'b'), '');
    await eventually('the name is told of', () => told.has(join(root, 'b')));
    expect([...told]).to.deep.equal([join(root, 'b')]);
    expect(overflows).to.equal(0);
  });

  it('takes as many events at once as the kernel may have lost some of for an overflow', async () => {
    start(1);
    await watcher.watch(root);
    writeFileSync(join(root, 'file'), '');
    await eventually('it is told of', () => overflows > 0);
    await eventually('the path is told of all the same', () => told.has(join(root, 'file')));
  });

  it('refuses orders after its end', async () => {
    start();
    await watcher.close();
    const refused = await watcher.watch(root).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refused).to.equal('The thread that watches directories ended');
  });
});
