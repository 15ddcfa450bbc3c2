import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { PONG, readMessageHead } from '../../../daemons/remoted/link/message-prefix.js';
import { AgentKey, deriveEncryptionKey, enrollmentKeyHash } from '../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { encodeFrame } from '../../../lib/agentlink/frame-decoder.js';
import { formatCounters, laterCounters, parseCounters } from '../../../lib/agentlink/message-counters.js';
import { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { rejectionText } from '../../../lib/agentlink/message-rejection.js';
import { MessageSealer } from '../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { keyOf, secureMessageVectors, type ValidVector } from '../../support/agentlink/secure-message-vectors.js';

const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);
const sealer = new MessageSealer(schedules);

/** What the log would say of a rejected message, in the words of the vectors. */
const REJECTED: Record<string, string> = {
  'missing-colon': '(1403)',
  'unknown-mark': '(1403)',
  'aes-corrupt-tail': '(1404)',
  'wrong-key-aes': '(1404)',
  'wrong-key-blowfish': '(1404)',
  'bad-checksum': '(1406)',
  'too-short': 'Decompressed message too short',
  'not-zlib': '(2202)',
  'bad-separator': '(1403)',
};

describe('secure message vectors', () => {
  const vectors = secureMessageVectors();

  it('derives every key', () => {
    for (const vector of vectors.key_derivation) {
      const { agent_id: id = '', agent_name: name = '', raw_key: raw = '' } = vector;
      expect(deriveEncryptionKey(id, name, raw)).to.equal(vector['encryption_key']);
      const key = new AgentKey(id, name, AgentAddress.any, raw);
      expect(key.aesKey.toString('latin1')).to.equal(vector['aes_key_ascii']);
      expect(key.blowfishKey.toString('latin1')).to.equal(vector['encryption_key']);
      expect(enrollmentKeyHash(id, name, raw)).to.equal(vector['enrollment_key_hash_sha1']);
    }
  });

  it('answers the probe', () => {
    for (const vector of vectors.plain) {
      expect(readMessageHead(Buffer.from(vector['request_hex'] ?? '', 'hex')).kind).to.equal('ping');
      expect(PONG.toString('hex')).to.equal(vector['reply_hex']);
      expect(encodeFrame(PONG).toString('hex')).to.equal(vector['tcp_reply_frame_hex']);
    }
  });

  for (const vector of vectors.messages) {
    it(`opens and seals ${vector.name}`, () => {
      const wire = Buffer.from(vector.wire_hex, 'hex');
      expect(wire.length).to.equal(vector.wire_length);
      const payload = check(vector, wire);
      const prefixId = vector.clear_prefix.startsWith('!') ? vector.agent_id : undefined;
      const counters = { global: vector.global_counter, local: vector.local_counter };
      const options = { form: vector.cipher, counters, random: vector.random, prefixId };
      const sealed = sealer.seal(keyOf(vector), payload, options);
      check(vector, sealed);
      // Byte for byte where this machine's zlib compresses as that of the vectors did.
      if (vector.zlib_hex !== undefined && sameDeflate(vector, payload)) {
        expect(sealed.toString('hex')).to.equal(vector.wire_hex);
        const framed = sealer.seal(keyOf(vector), payload, { ...options, framed: true });
        expect(framed.toString('hex')).to.equal(vector.tcp_frame_header_hex + vector.wire_hex);
      }
    });
  }

  for (const vector of vectors.rejected) {
    it(`rejects ${vector.name}`, () => {
      const head = readMessageHead(Buffer.from(vector.wire_hex, 'hex'));
      if (vector.name === 'id-not-closed') {
        expect(head.kind).to.equal('malformed');
        return;
      }
      if (head.kind !== 'prefixed') return expect.fail(head.kind);
      const result = opener.open(keyOf(vector), head.body);
      if (result.ok) return expect.fail('opened');
      const { text } = rejectionText(result.reason, vector.agent_id, '192.0.2.1');
      expect(text).to.include(REJECTED[vector.name]);
    });
  }

  it('counts as the senders of the vectors did', () => {
    for (const vector of vectors.messages) {
      const counters = { global: vector.global_counter, local: vector.local_counter };
      expect(formatCounters(counters)).to.equal(vector.sender_counter_file_after);
      expect(parseCounters(vector.sender_counter_file_after)).to.deep.equal(counters);
    }
    expect(laterCounters({ global: 5, local: 9997 })).to.deep.equal({ global: 6, local: 1 });
  });

  /** Opens a wire of the vector and compares all that is in it; returns its payload. */
  function check(vector: ValidVector, wire: Buffer): Buffer {
    const head = readMessageHead(wire);
    if (head.kind !== 'prefixed' && head.kind !== 'bare') return expect.fail(head.kind);
    if (head.kind === 'prefixed') expect(head.id).to.equal(vector.agent_id);
    expect(vector.clear_prefix.startsWith('!')).to.equal(head.kind === 'prefixed');
    const result = opener.open(keyOf(vector), head.body);
    if (!result.ok) return expect.fail(result.reason);
    expect(result).to.include({
      global: vector.global_counter,
      local: vector.local_counter,
      form: vector.cipher,
    });
    expect(result.payload.length).to.equal(vector.message_length);
    expect(hash('sha256', result.payload, 'hex')).to.equal(vector.message_sha256);
    if (vector.message_utf8 !== null) expect(result.payload.toString()).to.equal(vector.message_utf8);
    return result.payload;
  }

  function sameDeflate(vector: ValidVector, payload: Buffer): boolean {
    const digits = (value: number, count: number): string => String(value).padStart(count, '0');
    const { random, global_counter: global, local_counter: local } = vector;
    const inner = Buffer.from(`${digits(random, 5)}${digits(global, 10)}:${digits(local, 4)}:${payload.toString()}`);
    const text = Buffer.concat([Buffer.from(hash('md5', inner, 'hex')), inner]);
    return deflateSync(text, { level: 9 }).toString('hex') === vector.zlib_hex;
  }
});
