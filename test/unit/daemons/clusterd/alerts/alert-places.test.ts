import { expect } from 'chai';
import { AlertPlaces, homeOf } from '../../../../../daemons/clusterd/alerts/alert-places.js';

const HOME = { node: 'n1', instance: 'home' };
const places = (offset: number) => new Map([[homeOf(HOME), { file: 'a', offset }]]);
const batch = (offset: number) => ({ ...HOME, position: { file: 'a', offset }, alerts: [] });

describe('how far an output is in the files of a node', () => {
  let known: AlertPlaces;
  /** A message comes, and is handed on. */
  const had = (delivery: number, offset: number, { count = 1, rest = false, through = 0 } = {}) => {
    known.came({ deliverySequence: delivery, deliveryCount: count });
    const info = { deliverySequence: delivery, streamSequence: delivery };
    known.had({ info, places: places(offset), through, rest });
  };
  beforeEach(() => {
    known = new AlertPlaces();
  });

  it('is behind the last that were handed on here', () => {
    had(4, 10);
    known.came({ deliverySequence: 5, deliveryCount: 1 });
    expect(known.has(batch(10))).to.equal(true);
    expect(known.has(batch(11))).to.equal(false);
    expect(known.has({ ...batch(5), instance: 'another home' })).to.equal(false);
  });

  it('is still known where the same message came several times', () => {
    had(4, 10);
    known.came({ deliverySequence: 5, deliveryCount: 1 });
    known.came({ deliverySequence: 7, deliveryCount: 3 });
    expect(known.has(batch(10))).to.equal(true);
    had(8, 20, { count: 4 });
    known.came({ deliverySequence: 9, deliveryCount: 1 });
    expect(known.has(batch(20))).to.equal(true);
  });

  it('is not known where others were given any, or NATS counts anew', () => {
    for (const deliverySequence of [6, 1]) {
      had(4, 10);
      known.came({ deliverySequence, deliveryCount: 1 });
      expect(known.has(batch(10)), String(deliverySequence)).to.equal(false);
    }
  });

  it('goes on within what goes in front of a message, and ends with it', () => {
    had(4, 10, { rest: true, through: 2 });
    known.came({ deliverySequence: 5, deliveryCount: 2 });
    expect(known.has(batch(10))).to.equal(true);
    expect(known.through(4)).to.equal(2);
    expect(known.through(5)).to.equal(0);
  });
});
