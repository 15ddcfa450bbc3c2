import { deflateSync, inflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { adler32, adlerValue, joinAdler } from '../../../../../daemons/remoted/push/adler.js';
import { PushContent } from '../../../../../daemons/remoted/push/push-content.js';
import { PushSealer } from '../../../../../daemons/remoted/push/push-sealer.js';
import { AgentKey } from '../../../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../../../lib/agentlink/blowfish-cache.js';
import { FrameDecoder } from '../../../../../lib/agentlink/frame-decoder.js';
import type { MessageForm } from '../../../../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../../../../lib/agentlink/message-opener.js';
import { AgentAddress } from '../../../../../lib/network/agent-address.js';
import { pushMessages } from '../../../../support/agentlink/push-messages.js';

const FORMS: readonly MessageForm[] = ['aes', 'aes-iv', 'blowfish'];

describe('checksums of parts', () => {
  it('are those that end a zlib stream, and join', () => {
    const bytes = fc.uint8Array({ maxLength: 9000 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const whole = Buffer.concat([first, second]);
        const expected = deflateSync(whole).readUInt32BE(deflateSync(whole).length - 4);
        expect(adlerValue(adler32(whole))).to.equal(expected);
        expect(adlerValue(joinAdler(adler32(first), adler32(second)))).to.equal(expected);
      }),
    );
    const full = Buffer.alloc(200_000, 0xff);
    expect(adlerValue(adler32(full))).to.equal(deflateSync(full).readUInt32BE(deflateSync(full).length - 4));
  });
});

describe('sealing what many agents get', () => {
  const schedules = new BlowfishCache();
  const sealer = new PushSealer(schedules);
  const opener = new MessageOpener(schedules);
  const keys = ['001', '002'].map((id) => new AgentKey(id, `web${id}`, AgentAddress.any, `secret of ${id}`));

  for (const form of FORMS) {
    it(`gives each agent messages that it opens, ${form}`, () => {
      const contents = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((array) => Buffer.from(array));
      fc.assert(
        fc.property(contents, fc.boolean(), (file, framed) => {
          const content = new PushContent(file);
          const expected = [...pushMessages(file)];
          expect(content.length).to.equal(expected.length);
          const seals = keys.map((key) => ({ key, seal: sealer.begin(key, form, framed), sent: [] as Buffer[] }));
          for (let index = 0; index < content.length; index += 1) {
            for (const { seal, sent } of seals) {
              const payload = content.at(index);
              const room = PushSealer.room(payload);
              const target = Buffer.alloc(room + 3);
              const length = seal.write(target, 3, payload, { global: 7, local: index + 1 });
              expect(length).to.be.within(1, room);
              expect(target.subarray(3 + length).equals(Buffer.alloc(room - length))).to.equal(true);
              sent.push(target.subarray(3, 3 + length));
            }
          }
          for (const { key, sent } of seals) {
            const decoder = new FrameDecoder();
            for (const [index, wire] of sent.entries()) {
              if (framed) decoder.push(wire);
              const opened = opener.open(key, framed ? (decoder.next() ?? Buffer.alloc(0)) : wire, form);
              expect(opened).to.include({ ok: true, global: 7, local: index + 1 });
              expect(opened.ok && opened.payload.equals(expected[index] ?? Buffer.alloc(0))).to.equal(true);
            }
          }
        }),
        { numRuns: 50 },
      );
    });
  }

  it('writes a stream that zlib reads, and compresses a payload once', () => {
    const content = new PushContent(Buffer.from('a'.repeat(900)));
    const piece = content.at(1);
    expect(piece.deflated).to.equal(piece.deflated);
    const [key] = keys;
    if (key === undefined) throw new Error('no key');
    const target = Buffer.alloc(PushSealer.room(piece));
    const length = sealer.begin(key, 'blowfish', false).write(target, 0, piece, { global: 1, local: 2 });
    const clear = schedules
      .of(key)
      .decryptCbc(Buffer.from(target.subarray(1, length)), Buffer.from('fedcba9876543210', 'hex'));
    const text = inflateSync(clear.subarray(clear.findIndex((byte) => byte !== 0x21))).toString('latin1');
    expect(text).to.match(/^[0-9a-f]{32}\d{5}0000000001:0002:a{900}$/);
  });
});
