import { type Cipher, createCipheriv } from 'node:crypto';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { BLOWFISH_BLOCK } from '../../../lib/agentlink/blowfish.js';
import type { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { FRAME_HEADER_BYTES } from '../../../lib/agentlink/frame-decoder.js';
import type { CounterPair } from '../../../lib/agentlink/message-counters.js';
import * as form from '../../../lib/agentlink/message-form.js';
import { writeMessageText } from '../../../lib/agentlink/message-text.js';
import { RandomPool } from '../../../lib/agentlink/random-pool.js';
import { adler32, adlerValue, joinAdler } from './adler.js';
import type { SharedPayload } from './push-content.js';

/** Head of a zlib stream, compressed as well as can be (RFC 1950). */
const ZLIB_HEAD = 0x78da;
const HEAD_BYTES = 2;
/** What makes this message different from others of the same payload: a block that is stored as it is (RFC 1951 3.2.4). */
const STORED_HEAD_BYTES = 5;
const OWN_AT = HEAD_BYTES + STORED_HEAD_BYTES;
const OWN_BYTES = form.PAYLOAD_AT;
const DEFLATED_AT = OWN_AT + OWN_BYTES;
const CHECKSUM_BYTES = 4;
const MARK_BYTES = form.AES_MARK.length;
/** Room for a message; payloads of a push are pieces of 900 bytes, or shorter. */
const SCRATCH_BYTES = 4096;

/** Most bytes that sealing adds to a deflated payload. */
const OVERHEAD_BYTES =
  FRAME_HEADER_BYTES + MARK_BYTES + form.AES_BLOCK + BLOWFISH_BLOCK + DEFLATED_AT + CHECKSUM_BYTES + form.AES_BLOCK;

/**
 * Seals messages that many agents get: what costs most, compressing, is done once for all of them. Each message is as
 * `MessageSealer` makes it, but the zlib stream has two blocks: digest and counters as they are, then the payload.
 */
export class PushSealer {
  readonly #schedules: BlowfishCache;
  readonly #random = new RandomPool();
  readonly #text = Buffer.alloc(SCRATCH_BYTES);
  readonly #clear = Buffer.alloc(SCRATCH_BYTES);

  constructor(schedules: BlowfishCache) {
    this.#schedules = schedules;
  }

  /** Bytes that are enough for a sealed payload. */
  static room(payload: SharedPayload): number {
    return OVERHEAD_BYTES + payload.deflated.length;
  }

  /** Begins with the messages to one agent. */
  begin(key: AgentKey, used: form.MessageForm, framed: boolean): PushSeal {
    const encrypt = used === 'blowfish' ? blowfish(this.#schedules, key) : aes(key, used, this.#random);
    const mark = used === 'blowfish' ? form.BLOWFISH_MARK : form.AES_MARK;
    return {
      write: (target, at, payload, counters) => {
        const length = this.#clearText(payload, counters);
        const start = at + (framed ? FRAME_HEADER_BYTES : 0);
        const cipherAt = start + target.write(mark, start, 'latin1');
        const end = encrypt(this.#clear, length, target, cipherAt);
        if (framed) target.writeUInt32LE(end - start, at);
        return end - at;
      },
    };
  }

  /** Writes the text before encryption. @returns its length */
  #clearText({ bytes, deflated, adler }: SharedPayload, counters: CounterPair): number {
    const stream = DEFLATED_AT + deflated.length + CHECKSUM_BYTES;
    const fill = BLOWFISH_BLOCK - (stream % BLOWFISH_BLOCK);
    const clear = this.#clear;
    writeMessageText(this.#text, bytes, counters, this.#random.uint16());
    clear.fill(form.FILL, 0, fill);
    clear.writeUInt16BE(ZLIB_HEAD, fill);
    const stored = fill + HEAD_BYTES;
    // A block that is not the last one, with its length and what that is with every bit turned over.
    clear[stored] = 0;
    clear.writeUInt16LE(OWN_BYTES, stored + 1);
    clear.writeUInt16LE(0xffff - OWN_BYTES, stored + 3);
    this.#text.copy(clear, fill + OWN_AT, 0, OWN_BYTES);
    deflated.copy(clear, fill + DEFLATED_AT);
    const checksum = joinAdler(adler32(this.#text.subarray(0, OWN_BYTES)), adler);
    return clear.writeUInt32BE(adlerValue(checksum), fill + DEFLATED_AT + deflated.length);
  }
}

/** Seals payloads for one agent, in the order they are sent. */
export type PushSeal = {
  /**
   * Writes a message, framed if asked for, at a place where `PushSealer.room` bytes are free.
   * @returns its length
   */
  write(target: Buffer, at: number, payload: SharedPayload, counters: CounterPair): number;
};

/** Encrypts the first bytes of a text that may be changed, and has room for a block behind them. @returns where it ends */
type Encrypt = (clear: Buffer, length: number, target: Buffer, at: number) => number;

/**
 * One cipher for all messages to an agent: making one costs more than encrypting a message. The cipher goes on with its
 * last block where each message begins with an IV of its own, so the first block is mixed with both.
 */
function aes(key: AgentKey, used: 'aes' | 'aes-iv', random: RandomPool): Encrypt {
  let last: Buffer = form.AES_IV;
  const cipher: Cipher = createCipheriv('aes-256-cbc', key.aesKey, last);
  cipher.setAutoPadding(false);
  return (clear, length, target, at) => {
    const padding = form.AES_BLOCK - (length % form.AES_BLOCK);
    clear.fill(padding, length, length + padding);
    let cipherAt = at;
    let iv: Buffer = form.AES_IV;
    if (used === 'aes-iv') {
      iv = random.bytes(form.AES_BLOCK);
      cipherAt += iv.copy(target, at);
    }
    for (let index = 0; index < form.AES_BLOCK; index += 1) {
      clear[index] = (clear[index] ?? 0) ^ (iv[index] ?? 0) ^ (last[index] ?? 0);
    }
    const sealed = cipher.update(clear.subarray(0, length + padding));
    last = sealed.subarray(sealed.length - form.AES_BLOCK);
    return cipherAt + sealed.copy(target, cipherAt);
  };
}

function blowfish(schedules: BlowfishCache, key: AgentKey): Encrypt {
  return (clear, length, target, at) =>
    at + schedules.of(key).encryptCbc(clear.subarray(0, length), form.BLOWFISH_IV).copy(target, at);
}
