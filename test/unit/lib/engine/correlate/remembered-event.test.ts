import { expect } from 'chai';
import { RememberedEvent } from '../../../../../lib/engine/correlate/remembered-event.js';
import { EngineEvent } from '../../../../../lib/engine/event.js';
import { CORRELATION_ATTRIBUTES } from '../../../../../lib/engine/load/rule.js';

describe('RememberedEvent', () => {
  it('has the attributes of the event in the order in which composites name them', () => {
    const event = new EngineEvent({ queue: '1', location: '/x', message: 'x', receivedAt: 0 });
    const expected = CORRELATION_ATTRIBUTES.map((name) => {
      // no GeoIP database (rules-and-alerts.md 6.9)
      if (name === 'srcgeoip' || name === 'dstgeoip') return undefined;
      return (event[name] = `the ${name}`);
    });
    expect(RememberedEvent.of(event, 0, []).attributes).to.deep.equal(expected);
  });
});
