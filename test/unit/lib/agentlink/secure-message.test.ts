import { createCipheriv, hash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { readMessageHead } from '../../../../daemons/remoted/link/message-prefix.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../../lib/agentlink/blowfish-cache.js';
import type { MessageForm } from '../../../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../../../lib/agentlink/message-opener.js';
import { type RejectionReason, rejectionText } from '../../../../lib/agentlink/message-rejection.js';
import { MessageSealer, MessageSizeError } from '../../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';

const FORMS: readonly MessageForm[] = ['aes', 'aes-iv', 'blowfish'];
const key = new AgentKey('001', 'web01', AgentAddress.any, 'a'.repeat(64));
const other = new AgentKey('001', 'web01', AgentAddress.any, 'b'.repeat(64));
const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);
const sealer = new MessageSealer(schedules);
const counters = { global: 1, local: 2 };

/** Encrypts a clear text of the test's own, as an agent with the right key could. */
function encrypt(clear: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-cbc', key.aesKey, Buffer.from('FEDCBA0987654321'));
  return Buffer.concat([Buffer.from('#AES:'), cipher.update(clear), cipher.final()]);
}

/** A message with a right digest around a text. */
function sealText(inner: string | Buffer): Buffer {
  const bytes = Buffer.from(inner);
  const stream = deflateSync(Buffer.concat([Buffer.from(hash('md5', bytes, 'hex')), bytes]));
  return encrypt(Buffer.concat([Buffer.from('!!!'), stream]));
}

function reasonOf(body: Buffer, used: AgentKey = key): RejectionReason | 'opened' {
  const result = opener.open(used, body);
  return result.ok ? 'opened' : result.reason;
}

describe('secure messages', () => {
  it('come back in every form and both directions', () => {
    const payloads = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ minLength: 1, unit: 'grapheme' }),
    );
    const pairs = fc.record({
      global: fc.integer({ min: 0, max: 0xffffffff }),
      local: fc.integer({ min: 0, max: 9999 }),
    });
    fc.assert(
      fc.property(payloads, pairs, fc.constantFrom(...FORMS), fc.boolean(), (payload, pair, form, fromAgent) => {
        const prefixId = fromAgent ? key.id : undefined;
        const wire = sealer.seal(key, payload, { form, counters: pair, prefixId });
        const head = readMessageHead(wire);
        if (head.kind !== 'prefixed' && head.kind !== 'bare') return expect.fail(head.kind);
        expect(head.kind === 'prefixed' ? head.id : undefined).to.equal(prefixId);
        for (const last of [undefined, ...FORMS]) {
          const result = opener.open(key, head.body, last);
          if (!result.ok) return expect.fail(result.reason);
          expect(result.payload.equals(Buffer.from(payload))).to.equal(true);
          expect(result).to.include({ ...pair, form });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('differ each time, although the IV is fixed', () => {
    const wires = Array.from({ length: 50 }, () => sealer.seal(key, 'x', { form: 'aes', counters }).toString('hex'));
    expect(new Set(wires).size).to.be.greaterThan(45);
  });

  it('carry 65408 bytes and no more', () => {
    for (const form of FORMS) {
      const most = sealer.seal(key, Buffer.alloc(65_408, 'ab'), { form, counters });
      const result = opener.open(key, most);
      expect(result.ok && result.payload.length).to.equal(65_408);
      expect(() => sealer.seal(key, Buffer.alloc(65_409), { form, counters })).to.throw(MessageSizeError, '65409');
      expect(() => sealer.seal(key, '', { form, counters })).to.throw(MessageSizeError, 'Incorrect message size: 0');
    }
    // Noise does not compress; with everything that surrounds it, it still fits into a frame.
    const noise = randomBytes(65_408);
    for (const form of FORMS) {
      const wire = sealer.seal(key, noise, { form, counters, prefixId: '12345678' });
      expect(wire.length).to.be.at.most(65_536);
      expect(reasonOf(wire.subarray(10), new AgentKey('001', 'web01', AgentAddress.any, key.rawKey))).to.equal(
        'opened',
      );
    }
  });

  it('are answered in the form the agent used', () => {
    for (const form of FORMS) {
      const result = opener.open(key, sealer.seal(key, 'hello', { form, counters }));
      if (!result.ok) return expect.fail(result.reason);
      const answer = opener.open(key, sealer.seal(key, 'ack', { form: result.form, counters }), 'aes');
      expect(answer.ok && answer.form).to.equal(form);
    }
  });

  it('name what is wrong with a hostile one', () => {
    const aes = sealer.seal(key, 'hello', { form: 'aes', counters });
    const blowfish = sealer.seal(key, 'hello', { form: 'blowfish', counters });
    expect(reasonOf(Buffer.alloc(0))).to.equal('empty');
    expect(reasonOf(Buffer.from('#AES'))).to.equal('malformed');
    expect(reasonOf(Buffer.from('#AES!abc'))).to.equal('malformed');
    expect(reasonOf(Buffer.from('plain text'))).to.equal('malformed');
    expect(reasonOf(Buffer.from('#AES:'))).to.equal('wrong_key');
    expect(reasonOf(Buffer.from(':'))).to.equal('wrong_key');
    expect(reasonOf(aes.subarray(0, -1))).to.equal('wrong_key');
    expect(reasonOf(blowfish.subarray(0, -1))).to.equal('wrong_key');
    expect(reasonOf(aes, other)).to.equal('wrong_key');
    expect(reasonOf(blowfish, other)).to.equal('wrong_key');
    expect(reasonOf(encrypt(Buffer.from('!')))).to.equal('not_inflated');
    expect(reasonOf(encrypt(Buffer.from(':123 old form')))).to.equal('malformed');
    expect(reasonOf(encrypt(Buffer.concat([Buffer.from('!'), deflateSync(Buffer.alloc(52))])))).to.equal('too_short');
    expect(reasonOf(sealText('000000000000001:0002:'))).to.equal('opened');
    expect(reasonOf(sealText('000000000000001;0002:x'))).to.equal('malformed');
    expect(reasonOf(sealText('000000000000001:0002;x'))).to.equal('malformed');
    expect(reasonOf(sealText('00000 00000001:0002:x1'))).to.equal('malformed');
    expect(reasonOf(sealText('000000000000001:00x2:x'))).to.equal('malformed');
  });

  it('say so in the words of the reference', () => {
    const reasons = ['empty', 'malformed', 'wrong_key', 'not_inflated', 'too_short', 'checksum_mismatch'] as const;
    const lines = reasons.map((reason) => rejectionText(reason, '001', '192.0.2.7').text);
    expect(lines).to.deep.equal([
      'Received message is empty',
      "(1403): Incorrectly formatted message from agent '001' (host '192.0.2.7').",
      "(1404): Authentication error. Wrong key or corrupt payload. Message received from agent '001' at '192.0.2.7'.",
      "(2202): Error uncompressing string. Message received from agent '001' at '192.0.2.7'.",
      "Decompressed message too short from agent '001'",
      "(1406): Checksum mismatch. Message received from agent '001' at '192.0.2.7'.",
    ]);
  });

  it('stop inflating at the size of a message', () => {
    const bomb = encrypt(Buffer.concat([Buffer.from('!'), deflateSync(Buffer.alloc(20 * 1024 * 1024), { level: 9 })]));
    expect(bomb.length).to.be.lessThan(65_536);
    const before = process.memoryUsage().arrayBuffers;
    expect(reasonOf(bomb)).to.equal('not_inflated');
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(1024 * 1024);
  });

  it('survive any bytes: nothing throws, nothing but sealed bytes opens', () => {
    const wires = FORMS.map((form) => sealer.seal(key, 'an event of some length, sealed', { form, counters }));
    const mutated = fc
      .tuple(fc.constantFrom(...wires), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat({ max: 40 }))
      .map(([wire, at, mask, cut]) => {
        const copy = Buffer.from(wire);
        copy[at % copy.length]! ^= mask;
        return { wire, copy: copy.subarray(0, copy.length - cut) };
      });
    fc.assert(
      fc.property(mutated, ({ wire, copy }) => {
        const result = opener.open(key, copy);
        // With a random IV, flipped bits of it flip the same bits of the fill, which the digest does not cover.
        if (result.ok) expect(wire === wires[1] && result.payload.toString().startsWith('an event')).to.equal(true);
      }),
      { numRuns: 600 },
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom('', ':', '#AES:', '!001!:', '!001!#AES:'),
        (noise, mark) => {
          const head = readMessageHead(Buffer.concat([Buffer.from(mark), noise]));
          if (head.kind === 'prefixed' || head.kind === 'bare') expect(opener.open(key, head.body).ok).to.equal(false);
        },
      ),
      { numRuns: 600 },
    );
    // The right key around any text: what inflates is held to its digest and its counters.
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (text) => {
        expect(reasonOf(encrypt(Buffer.concat([Buffer.from('!'), deflateSync(text)])))).to.not.equal('opened');
        expect(['opened', 'malformed', 'too_short']).to.include(reasonOf(sealText(Buffer.from(text))));
      }),
      { numRuns: 300 },
    );
  });
});

describe('heads of messages', () => {
  const kindOf = (text: string): string => readMessageHead(Buffer.from(text, 'latin1')).kind;

  it('are a prefix with an id, a probe, or none', () => {
    expect(readMessageHead(Buffer.from('!1024!:x'))).to.deep.include({
      kind: 'prefixed',
      id: '1024',
      body: Buffer.from(':x'),
    });
    expect(['#ping', '#ping and more'].map(kindOf)).to.deep.equal(['ping', 'ping']);
    expect(['', '#AES:x', ':x', '#pin', 'x'].map(kindOf)).to.deep.equal(['bare', 'bare', 'bare', 'bare', 'bare']);
    const malformed = ['!', '!!', '!001', '!001x!', '!123456789!:x', '!-1!:', `!${'1'.repeat(60_000)}`];
    expect(malformed.map(kindOf)).to.deep.equal(malformed.map(() => 'malformed'));
    expect(readMessageHead(Buffer.from('!001!'))).to.deep.include({ kind: 'prefixed', body: Buffer.alloc(0) });
  });
});
