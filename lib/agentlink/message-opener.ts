import { hash } from 'node:crypto';
import { AesDecipher } from './aes-decipher.js';
import type { AgentKey } from './agent-key.js';
import { BLOWFISH_BLOCK } from './blowfish.js';
import type { BlowfishCache } from './blowfish-cache.js';
import { Inflater } from './inflater.js';
import { KeyCache } from './key-cache.js';
import { MAX_AES_DECIPHERS, MAX_INFLATED_BYTES } from './link-limits.js';
import * as form from './message-form.js';
import { type Rejection, rejection } from './message-rejection.js';

/** A message that was opened and whose checksum is right. Its counters are not judged yet. */
export type OpenedMessage = {
  readonly ok: true;
  /** The bytes of the payload; they belong to the caller. */
  readonly payload: Buffer;
  readonly global: number;
  readonly local: number;
  /** How it was encrypted: the peer is answered in the same form. */
  readonly form: form.MessageForm;
};

const HASH_SIGN = 0x23;

/**
 * Opens messages of the secure channel (agents-and-groups.md 3.2, 3.5 steps 6 to 11). Nothing thrown, nothing logged:
 * the caller knows whose connection it is. One is enough for a process.
 */
export class MessageOpener {
  readonly #schedules: BlowfishCache;
  readonly #inflater = new Inflater(MAX_INFLATED_BYTES);
  readonly #deciphers = new KeyCache(({ aesKey }) => new AesDecipher(aesKey), MAX_AES_DECIPHERS);

  constructor(schedules: BlowfishCache) {
    this.#schedules = schedules;
  }

  /**
   * Opens a message.
   * @param body what follows the prefix with the id, or the whole message when it has none
   * @param last form of the last message of this agent, tried first where a mark stands for two forms
   */
  open(key: AgentKey, body: Buffer, last?: form.MessageForm): OpenedMessage | Rejection {
    if (body.length === 0) return rejection('empty');
    if (body[0] === form.COLON) return this.#openBlowfish(key, body.subarray(1));
    if (body[0] !== HASH_SIGN || body.toString('latin1', 0, form.AES_MARK.length) !== form.AES_MARK) {
      return rejection('malformed');
    }
    const clear = this.#decryptAes(key, body.subarray(form.AES_MARK.length));
    return clear === undefined ? rejection('wrong_key') : this.#openAes(clear, last);
  }

  #openBlowfish(key: AgentKey, cipher: Buffer): OpenedMessage | Rejection {
    if (cipher.length === 0 || cipher.length % BLOWFISH_BLOCK !== 0) return rejection('wrong_key');
    const clear = this.#schedules.of(key).decryptCbc(cipher, form.BLOWFISH_IV);
    return this.#openClear(clear, 'blowfish');
  }

  /** Decrypts with the fixed IV and takes the padding off; undefined when the key cannot be the right one. */
  #decryptAes(key: AgentKey, cipher: Buffer): Buffer | undefined {
    if (cipher.length === 0 || cipher.length % form.AES_BLOCK !== 0) return undefined;
    const clear = this.#deciphers.of(key).decrypt(cipher);
    // Checked here: one buffer instead of two and their sum, and no exception for a wrong key.
    const padding = clear[clear.length - 1] ?? 0;
    if (padding === 0 || padding > form.AES_BLOCK) return undefined;
    const end = clear.length - padding;
    for (let at = end; at < clear.length; at += 1) if (clear[at] !== padding) return undefined;
    return clear.subarray(0, end);
  }

  /**
   * Tells the two AES forms apart. CBC decrypts a block with the block before it as IV: where a random IV stands before the
   * ciphertext, its block comes out as garbage and all that follows is right. So one decryption serves both forms.
   */
  #openAes(clear: Buffer, last: form.MessageForm | undefined): OpenedMessage | Rejection {
    if (last === 'aes-iv') {
      const opened = this.#openShifted(clear);
      return opened.ok ? opened : this.#openClear(clear, 'aes');
    }
    const opened = this.#openClear(clear, 'aes');
    if (opened.ok) return opened;
    const shifted = this.#openShifted(clear);
    return shifted.ok ? shifted : opened;
  }

  #openShifted(clear: Buffer): OpenedMessage | Rejection {
    if (clear[form.AES_BLOCK] !== form.FILL) return rejection('wrong_key');
    return this.#openClear(clear.subarray(form.AES_BLOCK), 'aes-iv');
  }

  #openClear(clear: Buffer, used: form.MessageForm): OpenedMessage | Rejection {
    if (clear[0] !== form.FILL) {
      // A colon marks the uncompressed form of agents before 2008, which is not supported.
      return rejection(clear[0] === form.COLON ? 'malformed' : 'wrong_key');
    }
    let start = 1;
    while (clear[start] === form.FILL) start += 1;
    const text = this.#inflate(clear.subarray(start));
    if (text === undefined) return rejection('not_inflated');
    if (text.length < form.PAYLOAD_AT) return rejection('too_short');
    // The digest finds accidents, it proves nobody's identity, so the time a comparison takes tells nothing.
    if (hash('md5', text.subarray(form.DIGEST_CHARS), 'hex') !== text.toString('latin1', 0, form.DIGEST_CHARS)) {
      return rejection('checksum_mismatch');
    }
    if (text[form.LOCAL_AT - 1] !== form.COLON || text[form.PAYLOAD_AT - 1] !== form.COLON) {
      return rejection('malformed');
    }
    const global = digits(text, form.GLOBAL_AT, form.GLOBAL_DIGITS);
    const local = digits(text, form.LOCAL_AT, form.LOCAL_DIGITS);
    if (global < 0 || local < 0) return rejection('malformed');
    return { ok: true, payload: text.subarray(form.PAYLOAD_AT), global, local, form: used };
  }

  #inflate(stream: Buffer): Buffer | undefined {
    const method = stream[0] ?? 0;
    // The two bytes of the header are a multiple of 31: most garbage ends here, without the cost of an exception.
    if ((method & 0x0f) !== 8 || ((method << 8) | (stream[1] ?? 0)) % 31 !== 0) return undefined;
    return this.#inflater.inflate(stream);
  }
}

/** The number written at a place, or -1. */
function digits(text: Buffer, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const digit = (text[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
