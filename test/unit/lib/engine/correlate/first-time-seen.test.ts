import { expect } from 'chai';
import { FirstTimeSeen } from '../../../../../lib/engine/correlate/first-time-seen.js';
import { EngineEvent } from '../../../../../lib/engine/event.js';
import type { FtsPart } from '../../../../../lib/engine/load/fts-spec.js';

const FTS = { parts: new Set<FtsPart>(['id']), fields: [] };

describe('Keys seen for the first time, of category ids', () => {
  const open = (listSize: number) => new FirstTimeSeen({ listSize, minSize: 14 });
  const see = (store: FirstTimeSeen, id: string): string | undefined => {
    const event = new EngineEvent({ queue: '1', location: '/var/log/ids.log', message: '', receivedAt: 0 });
    event.decoder = { id: 1, name: 'snort', accumulate: false, fts: FTS };
    event.category = 'ids';
    event.id = id;
    return store.firstSight(event);
  };
  const recent = (store: FirstTimeSeen): string[] => store.snapshot().recent.map((key) => key.trim());

  it('takes a key that is known in its short form out of the recent ones again', () => {
    const store = open(8);
    for (const id of ['attack-x-1', 'attack-x-2', 'attack-x-3']) expect(see(store, id)).to.contain(id);
    expect(see(store, 'attack-x-4')).to.equal('snort attack-x');
    const before = recent(store);
    expect(see(store, 'attack-x-5')).to.equal(undefined);
    expect(recent(store)).to.deep.equal(before);
  });

  it('loses the oldest of a full list for it, one more each time', () => {
    const store = open(5);
    for (const id of ['other', 'attack-x-1', 'attack-x-2', 'attack-x-3', 'attack-x-4']) see(store, id);
    expect(recent(store)).to.have.length(5);
    expect(see(store, 'attack-x-5')).to.equal(undefined);
    expect(recent(store)).to.deep.equal(['snort attack-x-1', 'snort attack-x-2', 'snort attack-x-3', 'snort attack-x']);
    // There is room again: nothing is pushed out.
    expect(see(store, 'attack-x-6')).to.equal(undefined);
    expect(recent(store)).to.have.length(4);
    see(store, 'new');
    expect(see(store, 'attack-x-7')).to.equal(undefined);
    expect(recent(store)).to.deep.equal(['snort attack-x-2', 'snort attack-x-3', 'snort attack-x', 'snort new']);
  });
});
