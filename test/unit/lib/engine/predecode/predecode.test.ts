import { expect } from 'chai';
import fc from 'fast-check';
import { parseEventPayload } from '../../../../../lib/agentlink/event-payload.js';
import { EngineEvent } from '../../../../../lib/engine/event.js';
import { headerHostname } from '../../../../../lib/engine/predecode/header-hostname.js';
import { predecode } from '../../../../../lib/engine/predecode/predecode.js';
import { isUnreadable, readLocation } from '../../../../../lib/engine/predecode/read-location.js';

function predecoded(envelope: string): EngineEvent | undefined {
  const payload = parseEventPayload(Buffer.from(envelope, 'latin1'));
  if (typeof payload === 'string') return expect.fail(payload);
  const event = new EngineEvent({
    ...readLocation(payload.location),
    queue: payload.queue,
    message: payload.message.toString('latin1'),
    receivedAt: 0,
  });
  if (isUnreadable(event)) {
    return undefined;
  }
  predecode(event, 'mgr');
  return event;
}

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('pre-decoding', () => {
  const D = 'Mar  7 09:15:02';
  // message, host name, time stamp, program, log
  const rows: [string, string, string | undefined, string | undefined, string?][] = [
    [`${D} gate doord[812]: door opened`, 'gate', D, 'doord', 'door opened'],
    [`${D} gate doord:door opened`, 'gate', D, 'doord', 'door opened'],
    [`${D} gate doord[812] door opened`, 'gate', D, 'doord', 'door opened'],
    [`${D} gate doord[812]door opened`, 'gate', D, undefined, 'doord[812]door opened'],
    [`${D} gate doord[x]: door opened`, 'gate', D, undefined, 'doord[x]: door opened'],
    [`${D} gate door opened`, 'gate', D, undefined, 'door opened'],
    [`${D} doord: door opened`, 'mgr', D, 'doord', 'door opened'],
    [`${D} gate,1 doord: door opened`, 'mgr', D, undefined, 'gate,1 doord: door opened'],
    [`${D}  gate doord: door opened`, 'gate', D, 'doord', 'door opened'],
    [`${D} gate doord[812]: [ID 702911 auth.info] opened`, 'gate', D, 'doord', 'opened'],
    [`${D} gate auth|security:info doord[812]: opened`, 'gate', D, 'doord', 'opened'],
    [`${D} gate auth|security:info doord: opened`, 'gate', D, 'doord', 'opened'],
    [`${D} gate auth|security:info doord opened`, 'gate', D, 'doord opened', ' opened'],
    [`${D} gate auth|security-info doord: opened`, 'gate', D, undefined, 'auth|security-info doord: opened'],
    ['2024 Mar 07 09:15:02 gate doord[8]: opened', 'gate', '2024 Mar 07 09:15:02', 'doord', 'opened'],
    ['2024-03-07T09:15:02+01:00 gate doord[8]: opened now', 'gate', '2024-03-07T09:15:02+01:00', 'doord', 'opened now'],
    ['2024-03-07T09:15:02.288+01:00 gate doord[8]: opened now', 'gate', '2024-03-07T09:15:02.288+01:00', 'doord', 'opened now'],
    ['2024-03-07T09:15:02.214994+01:00 gate doord[8]: opened now', 'gate', '2024-03-07T09:15:02.214994+01:00', 'doord', 'opened now'],
    ['2024-03-07T09:15:02.288Z gate doord[8]: opened now', 'mgr', '2024-03-07T09:15:02.288Z gate d', undefined, 'ord[8]: opened now'],
    ['2024-03-07T09:15:02Z gate doord[8]: opened now', 'mgr', undefined, undefined],
    ['2024-03-07 09:15:02,805 gate doord[8]: opened now', 'gate', '2024-03-07 09:15:02,805', 'doord', 'opened now'],
    ['2024-03-07 09:15:02.404756-0700 gate doord[8]: opened now', 'gate', '2024-03-07 09:15:02.404756-0700', 'doord', 'opened now'],
    ['Mon Mar  7 09:15:02 2024 1 10.0.0.1 rest of it', 'mgr', 'Mon Mar  7 09:15:02 2024', undefined, '1 10.0.0.1 rest of it'],
    ['03/07-09:15:02.240702  [**] [1:2:3] text', 'mgr', '03/07-09:15:02.240702', undefined, '[**] [1:2:3] text'],
    ['03/07/2024-09:15:02.240702  [**] [1:2:3] text', 'mgr', '03/07/2024-09:15:02.240702', undefined, '[**] [1:2:3] text'],
    ['[Thu Mar 07 09:15:02 2024] [warn] text', 'mgr', 'Thu Mar 07 09:15:02 2024', undefined, '[warn] text'],
    ['[Time 2024.03.07 09:15:02 UTC] [Facility auth] [Sender doord] [PID 8] [Message hello] [Level 3] [Host gate]', 'gate', undefined, 'doord', 'hello'],
    ['1709800502.370  11623 10.0.0.1 TCP_MISS/200 text', 'mgr', '1709800502.370 ', undefined, '11623 10.0.0.1 TCP_MISS/200 text'],
    ['<34>1 2024-03-07T09:15:02.003Z gate su - ID47 - msg', 'mgr', undefined, undefined],
    ['Mär 07 09:15:02 gate doord[8]: opened', 'gate', 'Mär 07 09:15:0', 'doord', 'opened'],
    ['abc de fg:hi:jk xyz doord: no date at all', 'xyz', 'abc de fg:hi:jk', 'doord', 'no date at all'],
    ['short', 'mgr', undefined, undefined],
    [D, 'mgr', undefined, undefined],
  ]; // oxfmt-ignore
  for (const [message, hostname, timestamp, program, log] of rows) {
    it(`reads ${message}`, () => {
      const event = predecoded(`1:/var/log/app.log:${bytes(message)}`)!;
      expect([event.hostname, event.timestamp, event.programName, event.log, event.fullLog]).to.deep.equal([
        hostname,
        timestamp === undefined ? undefined : bytes(timestamp),
        program,
        bytes(log ?? message),
        bytes(message),
      ]);
      expect([event.agentId, event.location]).to.deep.equal(['000', '/var/log/app.log']);
    });
  }

  it('takes the agent, its name and its location from the location', () => {
    const event = predecoded('1:[001] (web01) fe80|:|:1->C|:\\logs\\a||b.log:hello')!;
    expect(event.location).to.equal('(web01) fe80::1->C:\\logs\\a|b.log');
    expect([event.agentId, event.hostname, event.log]).to.deep.equal(['001', 'web01', 'hello']);
  });

  it('gives agents no host from the header', () => {
    const event = predecoded(`1:[001] (web01) 10.0.0.5->/var/log/app.log:${D} gate doord: x`)!;
    expect([event.hostname, event.programName]).to.deep.equal(['web01', 'doord']);
    expect(headerHostname(event.fullLog)).to.equal('gate');
    const bare = predecoded(`1:[002]:${D} gate doord: x`)!;
    expect([bare.agentId, bare.location, bare.hostname]).to.deep.equal(['002', '', '']);
  });

  it('drops a location without the end of its agent id', () => {
    expect(predecoded('1:[002 broken:hello')).to.equal(undefined);
  });

  it('finds the header host for the output only behind a BSD date', () => {
    expect(headerHostname('Mar  7 09:15:02 gate,1 doord: x')).to.equal('gate,1');
    expect(headerHostname('2024-03-07T09:15:02+01:00 gate doord[8]: x')).to.equal(undefined);
    expect(headerHostname('mar  7 09:15:02 gate doord: x')).to.equal(undefined);
    expect(headerHostname('Mar  7 09:15:02 ')).to.equal(undefined);
  });

  it('never fails, and takes the log from the end of the message', () => {
    const piece = fc.constantFrom(...'0123456789abzAZ[]():-. /|,+T\xc3\xa4', 'Mar  7 09:15:02 ', '2024-03-07T09:15:02', '[Time 2024.03.07 09:15:02 UTC] ', '[Sender ', '[Message ', '[Host ', '[ID '); // oxfmt-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const event = predecoded(`1:x:${pieces.join('')}a`)!;
        expect(event.fullLog).to.contain(event.log);
        expect(event.fullLog.startsWith('[T') || event.fullLog.endsWith(event.log)).to.equal(true);
      }),
      { numRuns: 3000 },
    );
  });
});
