import { rmSync, unlinkSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../../support/eventually.js';
import { RealtimeKit } from '../../../../support/syscheckd/realtime-kit.js';
import { WatcherDouble } from '../../../../support/syscheckd/watcher-double.js';

describe('limits of real-time monitoring', () => {
  let kit: RealtimeKit;
  let watcher: WatcherDouble;
  beforeEach(() => {
    watcher = new WatcherDouble();
    kit = new RealtimeKit(watcher, { unwatchedEvery: 20, rescanGap: 20 });
  });
  afterEach(() => kit.remove());

  const logged = (text: string): number => kit.logger.lines.filter((line) => line.includes(text)).length;

  it('looks through directories again and again that have no watch, until they have', async () => {
    kit.write('a/watched/1');
    kit.write('a/full/2');
    kit.write('a/full/sub/3');
    watcher.refused.set(kit.path('a/full'), 'limit').set(kit.path('a/full/sub'), 'limit');
    await kit.watch([['a']]);
    await kit.scan();
    expect(kit.realtime.status.unwatched).to.equal(2);
    kit.write('a/full/2', 'changed');
    kit.write('a/full/new/4');
    unlinkSync(kit.path('a/full/sub/3'));
    // Nobody tells of this one, for it is watched.
    kit.write('a/watched/5');
    await kit.events('modified a/full/2', 'added a/full/new/4', 'deleted a/full/sub/3');
    rmSync(kit.path('a/full/sub'), { recursive: true });
    watcher.refused.clear();
    kit.write('a/full/6');
    await kit.events('added a/full/6');
    await eventually('nothing is left', () => kit.realtime.status.unwatched === 0);
    await eventually('it is said', () => logged('All directories of real-time monitoring are watched again.') === 1);
    expect(logged('(6700)')).to.equal(1);
    expect(kit.logger.lines.find((line) => line.includes('(6700)'))).to.equal(
      `error: (6700): Unable to add inotify watch to real time monitoring: '${kit.path('a/full')}'. '-1' '28': ` +
        'The maximum limit of inotify watches has been reached.',
    );
    expect([...watcher.watched].sort()).to.deep.equal(
      ['a', 'a/full', 'a/full/new', 'a/watched'].map((path) => kit.path(path)),
    );
  });

  it('does the same where the system gives no watch for another reason', async () => {
    kit.make('a/odd');
    watcher.refused.set(kit.path('a/odd'), 'failed');
    await kit.watch([['a']]);
    await kit.scan();
    kit.write('a/odd/1');
    await kit.events('added a/odd/1');
    expect(logged('(6700)')).to.equal(0);
  });

  it('looks through everything when changes may be lost, and gives notice of it', async () => {
    kit.write('a/1');
    kit.write('a/sub/2');
    kit.write('file');
    await kit.watch([['a'], ['file']]);
    await kit.scan();
    kit.write('a/1', 'changed');
    kit.write('a/new/3');
    kit.write('file', 'changed');
    rmSync(kit.path('a/sub'), { recursive: true });
    watcher.overflow();
    await kit.events('modified a/1', 'added a/new/3', 'modified file', 'deleted a/sub/2');
    unlinkSync(kit.path('file'));
    watcher.overflow();
    await kit.events('deleted file');
    expect(kit.realtime.status.overflows).to.equal(2);
    expect(kit.notices).to.have.length(2);
    expect(kit.notices[0]).to.deep.equal({
      queue: '1',
      location: 'syscheck',
      message: Buffer.from(
        'ossec: Real-time inotify kernel queue is full. Some events may be lost. Next scheduled scan will recover lost data.',
      ),
    });
    expect(logged('kernel queue is full')).to.equal(2);
  });

  it('takes overflows that come close together for one, and those before the baseline for later', async () => {
    kit.make('a');
    await kit.watch([['a']]);
    watcher.overflow();
    await kit.scan(() => {
      watcher.overflow();
      watcher.overflow();
      kit.write('a/1');
    });
    await kit.events('added a/1');
    expect(kit.realtime.status.overflows).to.equal(3);
    expect(kit.notices.length).to.be.within(1, 2);
  });

  it('says when it cannot go on', () => {
    const error = new Error('the thread ended');
    watcher.fail(error);
    expect(kit.failures).to.deep.equal([error]);
  });
});
