import { expect } from 'chai';
import fc from 'fast-check';
import { incomingEvent } from '../../../../daemons/analysisd/pipeline/incoming-event.js';
import { toByteString } from '../../../../lib/engine/byte-string.js';
import { readLocation } from '../../../../lib/engine/predecode/read-location.js';

const event = (location: string) => ({ queue: '1', location, message: Buffer.from('x'), receivedAt: 5 });
const location = fc.oneof(
  fc.string(),
  fc.constantFrom('/var/log/x', '[001] (web) any->/x', '[001', '[001]', '[] x', ''),
);

describe('incomingEvent', () => {
  it("says of an agent's event what its location as a text says", () => {
    fc.assert(
      fc.property(
        location,
        fc.stringMatching(/^[\wé.-]+$/),
        fc.constantFrom('any', '10.0.0.5', '::1'),
        (text, name, ip) => {
          const agent = { id: '004', name, ip };
          const { location: seen, agent: sender } = incomingEvent({ ...event(text), agent });
          const written = `[004] (${toByteString(name)}) ${ip}->${text}`;
          expect({ location: seen, agent: sender }).to.deep.equal(readLocation(written));
        },
      ),
    );
  });

  it("takes a local event's location for an agent's where it looks like one", () => {
    expect(incomingEvent(event('[001] (web) any->/x'))).to.deep.include({
      location: '(web) any->/x',
      agent: { id: '001', name: 'web' },
    });
    for (const text of ['/var/log/x', '(script) root@h->wazuh-agentlessd', '[001']) {
      expect(incomingEvent(event(text))).to.deep.include({ location: text, agent: undefined });
    }
  });
});
