import { appendFileSync, linkSync, unlinkSync } from 'node:fs';
import { expect } from 'chai';
import { ThreadWatcher } from '../../../../../daemons/syscheckd/realtime/thread-watcher.js';
import { RealtimeKit } from '../../../../support/syscheckd/realtime-kit.js';

describe('files with several names, in real time', () => {
  let kit: RealtimeKit;
  beforeEach(() => (kit = new RealtimeKit(new ThreadWatcher(), { linkSearchGap: 1 })));
  afterEach(() => kit.remove());

  const linked = () => {
    const { linked: names, unlinked } = kit.realtime.status;
    return [names, unlinked];
  };

  it('change under all of them, whichever they are written through', async () => {
    kit.write('a/one', 'first');
    kit.make('b/deep');
    linkSync(kit.path('a/one'), kit.path('a/two'));
    linkSync(kit.path('a/one'), kit.path('b/deep/three'));
    linkSync(kit.path('a/one'), kit.path('unwatched'));
    kit.write('b/alone');
    await kit.watch([['a'], ['b']]);
    await kit.scan();
    expect(linked()).to.deep.equal([3, 0]);
    const all = ['modified a/one', 'modified a/two', 'modified b/deep/three'];
    appendFileSync(kit.path('a/one'), ' more');
    await kit.events(...all);
    appendFileSync(kit.path('b/deep/three'), ' again');
    await kit.events(...all);
    appendFileSync(kit.path('b/alone'), ' x');
    await kit.events('modified b/alone');
  });

  it('are found when the second name is made while they are watched', async () => {
    kit.write('a/one', 'first');
    kit.make('b');
    await kit.watch([['a'], ['b']]);
    await kit.scan();
    expect(linked()).to.deep.equal([0, 0]);
    linkSync(kit.path('a/one'), kit.path('b/two'));
    await kit.events('added b/two');
    appendFileSync(kit.path('b/two'), ' more');
    await kit.events('modified a/one', 'modified b/two');
    appendFileSync(kit.path('a/one'), ' more');
    await kit.events('modified a/one', 'modified b/two');
  });

  it('are forgotten with their names', async () => {
    kit.write('a/one');
    kit.make('b');
    linkSync(kit.path('a/one'), kit.path('b/two'));
    await kit.watch([['a'], ['b']]);
    await kit.scan();
    unlinkSync(kit.path('b/two'));
    await kit.events('deleted b/two');
    expect(linked()).to.deep.equal([1, 0]);
    appendFileSync(kit.path('a/one'), ' more');
    await kit.events('modified a/one');
    expect(linked()).to.deep.equal([0, 0]);
    // Another file of the same name.
    linkSync(kit.path('a/one'), kit.path('b/two'));
    await kit.events('added b/two');
    kit.write('b/two', 'another');
    await kit.events('modified b/two');
    appendFileSync(kit.path('b/two'), ' more');
    await kit.events('modified b/two');
  });
});
