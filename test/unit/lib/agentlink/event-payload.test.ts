import { expect } from 'chai';
import fc from 'fast-check';
import {
  agentStateText,
  buildEventPayload,
  escapeLocation,
  parseEventPayload,
  unescapeLocation,
} from '../../../../lib/agentlink/event-payload.js';

const parse = (text: string): unknown => {
  const event = parseEventPayload(Buffer.from(text, 'latin1'));
  return typeof event === 'string' ? event : [event.queue, event.location, event.message.toString('latin1')];
};

describe('event payloads', () => {
  it('are queue, location and text', () => {
    expect(parse('1:/var/log/auth.log:Dec 25 20:45:02 web01 sshd[1]: x')).to.deep.equal([
      ...['1', '/var/log/auth.log', 'Dec 25 20:45:02 web01 sshd[1]: x'],
    ]);
    expect(parse('8:syscheck:{"type":"event"}')).to.deep.equal(['8', 'syscheck', '{"type":"event"}']);
    expect(parse('1:C|:\\logs||x:a:b')).to.deep.equal(['1', 'C:\\logs|x', 'a:b']);
    expect(parse('1:a|b:c')).to.deep.equal(['1', 'ab', 'c']);
    expect(parse('1::')).to.deep.equal(['1', '', '']);
  });

  it('are dropped when they are none, or a keepalive', () => {
    const malformed = ['', '1', '1:', '1:abc', '1:abc|:', '1:abc|', '12:a:b', 'x', '1:|:|:'];
    for (const text of malformed) expect(parse(text), text).to.equal('malformed');
    // A message that says it has its origin already could name another agent.
    expect(parse('4:[002] (db) any->x:y')).to.equal('malformed');
    expect(parse('1:keepalive:x')).to.equal('ignored');
    expect(parse('1:keepalive-noise:x')).to.equal('ignored');
  });

  it('escape bars and colons of locations', () => {
    expect(escapeLocation('a|b:c')).to.equal('a||b|:c');
    expect(unescapeLocation('a||b|:c|xd|')).to.equal('a|b:cxd|');
    fc.assert(
      fc.property(fc.stringMatching(/^[a|:[\] ]{0,12}$/), fc.stringMatching(/^[a|: ]{1,12}$/), (location, message) => {
        expect(parse(buildEventPayload('2', location, message).toString('latin1'))).to.deep.equal([
          ...['2', location, message],
        ]);
      }),
    );
  });

  it('come back as they were built', () => {
    const location = fc
      .uint8Array({ maxLength: 30 })
      .map((all) => Buffer.from(all).toString('latin1'))
      .filter((text) => !text.startsWith('keepalive'));
    fc.assert(
      fc.property(location, fc.uint8Array({ maxLength: 50 }), (from, text) => {
        const event = parseEventPayload(buildEventPayload('1', from, Buffer.from(text)));
        if (typeof event === 'string') return expect.fail(event);
        expect(event).to.include({ queue: '1', location: from });
        expect(event.message.equals(Buffer.from(text))).to.equal(true);
        expect(unescapeLocation(escapeLocation(from))).to.equal(from);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        parseEventPayload(Buffer.from(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('say that an agent started or stopped', () => {
    const agent = { name: 'web01', ip: 'any' };
    expect(agentStateText('stopped', agent)).to.equal("ossec: Agent stopped: 'web01->any'.");
    expect(agentStateText('started', agent)).to.equal("ossec: Agent started: 'web01->any'.");
  });
});
