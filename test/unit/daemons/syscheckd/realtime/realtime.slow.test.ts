import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { ThreadWatcher } from '../../../../../daemons/syscheckd/realtime/thread-watcher.js';
import type { WatchOutcome } from '../../../../../daemons/syscheckd/realtime/watcher.js';
import { bytesOf } from '../../../../../lib/fim/byte-order.js';
import { eventually } from '../../../../support/eventually.js';
import { RealtimeKit } from '../../../../support/syscheckd/realtime-kit.js';

/** The kernel, or whoever else tells of paths. */
class ToldWatcher extends ThreadWatcher {
  tell: (paths: readonly string[]) => void = () => {};

  override onChange(listener: (paths: readonly string[]) => void): void {
    this.tell = listener;
    super.onChange(listener);
  }
}

/** Moves a directory away when the watch of another one is asked for, and keeps to itself what happens from then on. */
class MovingWatcher extends ThreadWatcher {
  at = '';
  readonly met: WatchOutcome[] = [];
  #move: (() => void) | undefined;
  readonly #kept: string[] = [];
  #tell: (paths: readonly string[]) => void = () => {};

  moveAt(directory: string, move: () => void): void {
    this.at = directory;
    this.#move = move;
  }

  /** Tells what was kept, and all that comes. */
  goOn(): void {
    this.at = '';
    this.#tell(this.#kept);
  }

  override onChange(listener: (paths: readonly string[]) => void): void {
    this.#tell = listener;
    super.onChange((paths) => {
      if (this.at !== '' && this.#move === undefined) this.#kept.push(...paths);
      else listener(paths);
    });
  }

  override async watch(directory: string): Promise<WatchOutcome> {
    if (directory !== this.at) return super.watch(directory);
    this.#move?.();
    this.#move = undefined;
    const outcome = await super.watch(directory);
    this.met.push(outcome);
    return outcome;
  }
}

describe('real-time monitoring', () => {
  let kit: RealtimeKit;
  beforeEach(() => (kit = new RealtimeKit()));
  afterEach(() => kit.remove());

  it('records what is made, written, changed in its rights, renamed and removed', async () => {
    kit.write('a/old');
    await kit.watch([['a']]);
    await kit.scan();
    expect(kit.logger.lines).to.deep.equal(['info: (6012): Real-time file integrity monitoring started.']);
    kit.write('a/new');
    await kit.events('added a/new');
    appendFileSync(kit.path('a/old'), 'more');
    await kit.events('modified a/old');
    kit.write('a/old', 'other');
    await kit.events('modified a/old');
    chmodSync(kit.path('a/old'), 0o600);
    await kit.events('modified a/old');
    renameSync(kit.path('a/old'), kit.path('a/renamed'));
    await kit.events('deleted a/old', 'added a/renamed');
    symlinkSync('nowhere', kit.path('a/link'));
    await kit.events('added a/link');
    unlinkSync(kit.path('a/renamed'));
    unlinkSync(kit.path('a/link'));
    await kit.events('deleted a/renamed', 'deleted a/link');
    expect(kit.realtime.status).to.include({ watches: kit.path('a').split('/').length, overflows: 0, unwatched: 0 });
  });

  it('goes into directories that are made, moved in, moved about and removed', async () => {
    kit.make('a');
    kit.write('out/b/c/2');
    kit.write('out/1');
    await kit.watch([['a']]);
    await kit.scan();
    kit.write('a/x/y/z/0');
    await kit.events('added a/x/y/z/0');
    kit.write('a/x/y/3');
    await kit.events('added a/x/y/3');
    renameSync(kit.path('out'), kit.path('a/in'));
    await kit.events('added a/in/1', 'added a/in/b/c/2');
    renameSync(kit.path('a/in'), kit.path('a/x/in'));
    await kit.events(...['deleted a/in/1', 'deleted a/in/b/c/2'], ...['added a/x/in/1', 'added a/x/in/b/c/2']);
    kit.write('a/x/in/b/c/4');
    await kit.events('added a/x/in/b/c/4');
    renameSync(kit.path('a/x'), kit.path('gone'));
    await kit.events(
      ...['deleted a/x/y/z/0', 'deleted a/x/y/3'],
      ...['deleted a/x/in/1', 'deleted a/x/in/b/c/2', 'deleted a/x/in/b/c/4'],
    );
    kit.write('gone/y/unwatched');
    kit.write('a/last');
    await kit.events('added a/last');
  });

  it('finds what was exchanged for something else of the same name', async () => {
    kit.write('a/d/1');
    kit.write('a/d/sub/2');
    kit.write('other/3');
    kit.write('other/sub/4');
    await kit.watch([['a']]);
    await kit.scan();
    renameSync(kit.path('a/d'), kit.path('away'));
    renameSync(kit.path('other'), kit.path('a/d'));
    await kit.events('deleted a/d/1', 'deleted a/d/sub/2', 'added a/d/3', 'added a/d/sub/4');
    rmSync(kit.path('a/d'), { recursive: true });
    kit.write('a/d', 'a file');
    await kit.events('deleted a/d/3', 'deleted a/d/sub/4', 'added a/d');
    rmSync(kit.path('a/d'));
    kit.write('a/d/5');
    await kit.events('deleted a/d', 'added a/d/5');
    kit.write('a/d/6');
    await kit.events('added a/d/6');
    rmSync(kit.path('a/d/6'));
    execFileSync('mkfifo', [kit.path('a/d/6')], { stdio: 'ignore' });
    await kit.events('deleted a/d/6');
  });

  it('takes nothing for there that a link in the place of its directory leads to', async () => {
    await kit.remove();
    const watcher = new ToldWatcher();
    kit = new RealtimeKit(watcher);
    kit.write('a/d/file');
    kit.write('a/d/sub/1');
    await kit.watch([['a']]);
    await kit.scan();
    renameSync(kit.path('a/d'), kit.path('away'));
    symlinkSync(kit.path('away'), kit.path('a/d'));
    await kit.events('deleted a/d/file', 'deleted a/d/sub/1', 'added a/d');
    appendFileSync(kit.path('away/file'), 'more');
    watcher.tell([kit.path('a/d/file'), kit.path('a/d/sub'), kit.path('a/d/sub/1')]);
    kit.write('a/last');
    await kit.events('added a/last');
    expect([...kit.recorder.files.keys()].sort()).to.deep.equal([kit.path('a/d'), kit.path('a/last')]);
  });

  it('goes on with a directory that comes back, whatever was looked at while it was away', async () => {
    kit.write('a/d/x/y/1');
    await kit.watch([['a']]);
    await kit.scan();
    for (let turn = 0; turn < 20; turn += 1) {
      writeFileSync(kit.path('a/d/x/y/1'), `turn ${turn}`);
      renameSync(kit.path('a/d'), kit.path('away'));
      await new Promise((resolve) => setTimeout(resolve, turn));
      renameSync(kit.path('away'), kit.path('a/d'));
    }
    kit.write('a/d/x/y/2');
    await eventually('all is as it is', async () => {
      await kit.realtime.idle();
      const rows = [...kit.recorder.files.keys()].sort().join();
      return rows === [kit.path('a/d/x/y/1'), kit.path('a/d/x/y/2')].join();
    });
  });

  it('finds what was walked in a directory while that was away', async () => {
    await kit.remove();
    const watcher = new MovingWatcher();
    kit = new RealtimeKit(watcher);
    kit.write('a/d/x/old');
    kit.write('new/y/1');
    await kit.watch([['a']]);
    await kit.scan();
    // The walk has opened what came when everything above it goes, and comes back when the walk is over.
    watcher.moveAt(kit.path('a/d/x/new'), () => {
      renameSync(kit.path('a/d'), kit.path('away'));
    });
    renameSync(kit.path('new'), kit.path('a/d/x/new'));
    await eventually('the walk met nothing', () => watcher.met.includes('vanished'));
    await kit.realtime.idle();
    renameSync(kit.path('away'), kit.path('a/d'));
    watcher.goOn();
    await eventually('what came is there', () => kit.recorder.files.has(kit.path('a/d/x/new/y/1')));
    expect([...kit.recorder.files.keys()].sort()).to.deep.equal([kit.path('a/d/x/new/y/1'), kit.path('a/d/x/old')]);
  });

  it('keeps to depth, restrict, ignore and the paths of others', async () => {
    kit.make('a/sub/deep');
    kit.make('a/scheduled');
    await kit.watch(
      [
        ['a', { name: 'recursion_level', value: 1 }, { name: 'restrict', value: '.conf$' }],
        ['a/scheduled', { name: 'realtime', value: false }],
      ],
      [
        { kind: 'path', value: kit.path('a/ignored') },
        { kind: 'sregex', value: '.log.conf$' },
      ],
    );
    await kit.scan();
    for (const path of ['a/1', 'a/1.log.conf', 'a/ignored/1.conf', 'a/scheduled/1.conf', 'a/sub/deep/1.conf']) {
      kit.write(path);
    }
    kit.write('a/new/deep/1.conf');
    kit.write('a/new/1.conf');
    kit.write('a/sub/1.conf');
    kit.write('a/last.conf');
    await kit.events('added a/new/1.conf', 'added a/sub/1.conf', 'added a/last.conf');
  });

  it('takes up configured paths when they are made, moved away and made again', async () => {
    kit.make('one');
    await kit.watch([['one/two/three'], ['one/file']]);
    await kit.scan();
    kit.write('one/other');
    kit.write('one/two/other');
    kit.write('one/file');
    await kit.events('added one/file');
    kit.write('one/two/three/four/1');
    await kit.events('added one/two/three/four/1');
    kit.write('one/file.new', 'replaced');
    renameSync(kit.path('one/file.new'), kit.path('one/file'));
    await kit.events('modified one/file');
    renameSync(kit.path('one'), kit.path('away'));
    await kit.events('deleted one/file', 'deleted one/two/three/four/1');
    kit.write('one/two/three/5');
    await kit.events('added one/two/three/5');
    kit.write('away/two/three/four/6');
    kit.write('one/two/three/6');
    await kit.events('added one/two/three/6');
  });

  it('keeps changes back until the baseline of their path is there', async () => {
    kit.write('a/1');
    kit.write('a/2');
    await kit.watch([['a']]);
    await kit.scan(() => {
      kit.write('a/1', 'changed');
      kit.write('a/new/3');
      unlinkSync(kit.path('a/2'));
    });
    await kit.events('modified a/1', 'added a/new/3', 'deleted a/2');
  });

  it('takes names that are no UTF-8', async () => {
    kit.make('a');
    await kit.watch([['a']]);
    await kit.scan();
    const directory = `${kit.path('a')}/d\xff`;
    mkdirSync(bytesOf(directory));
    writeFileSync(bytesOf(`${directory}/\xfe`), '');
    await kit.events('added a/d\xff/\xfe');
    rmSync(bytesOf(directory), { recursive: true });
    await kit.events('deleted a/d\xff/\xfe');
  });

  it('follows a changed configuration', async () => {
    kit.make('a/b');
    kit.make('c');
    await kit.watch([['a'], ['a/b', { name: 'tags', value: ['inner'] }]]);
    await kit.scan();
    await kit.watch([['a/b'], ['c']]);
    await kit.scan();
    await kit.realtime.idle();
    kit.write('a/1');
    kit.write('a/b/2');
    kit.write('c/3');
    await kit.events('added a/b/2', 'added c/3');
    await kit.watch([['a']]);
    await kit.scan();
    await kit.realtime.idle();
    kit.recorder.events.length = 0;
    kit.write('c/4');
    kit.write('a/b/5');
    await kit.events('added a/b/5');
  });

  it('has who-data noticed in real time, and says so once', async () => {
    kit.make('a');
    await kit.watch([['a', { name: 'whodata', value: true }]]);
    await kit.watch([['a', { name: 'whodata', value: true }]]);
    await kit.scan();
    kit.write('a/1');
    await kit.events('added a/1');
    expect(kit.logger.lines.filter((line) => line.includes('6913'))).to.deep.equal([
      'warn: (6913): Who-data engine could not start. Switching who-data to real-time.',
    ]);
  });

  it('tells when a followed link may lead elsewhere', async () => {
    kit.write('target/1');
    symlinkSync('target', kit.path('link'));
    await kit.watch([['link', { name: 'follow_symbolic_link', value: true }]]);
    await kit.scan();
    kit.write('target/2');
    await kit.events('added target/2');
    const before = kit.links;
    unlinkSync(kit.path('link'));
    await eventually('it is told', () => kit.links > before);
  });
});
