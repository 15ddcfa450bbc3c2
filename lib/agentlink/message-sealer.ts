import { createCipheriv, hash, randomFillSync } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { AgentKey } from './agent-key.js';
import type { BlowfishCache } from './blowfish-cache.js';
import { BLOWFISH_BLOCK } from './blowfish.js';
import { FRAME_HEADER_BYTES } from './frame-decoder.js';
import { MAX_FRAME_BYTES, MAX_PAYLOAD_BYTES } from './link-limits.js';
import type { CounterPair } from './message-counters.js';
import * as form from './message-form.js';

/** How a message is sealed. */
export type SealOptions = {
  readonly form: form.MessageForm;
  readonly counters: CounterPair;
  /** Id to write before the message: agents without a single address do, managers never (agents-and-groups.md 3.2). */
  readonly prefixId?: string | undefined;
  /** Whether the length for TCP comes first. */
  readonly framed?: boolean | undefined;
  /** 0 to 65535; a random one unless given. */
  readonly random?: number | undefined;
};

/** A payload that does not fit into a message, or an empty one. */
export class MessageSizeError extends Error {
  override readonly name = 'MessageSizeError';

  constructor(readonly bytes: number) {
    super(`Incorrect message size: ${bytes}`);
  }
}

/** The reference compresses with this level; receivers take any. */
const LEVEL = 9;
const DEFLATE_SMALL = { level: LEVEL, chunkSize: 1024 };
const DEFLATE_LARGE = { level: LEVEL, chunkSize: 16_384 };
const SMALL_TEXT_BYTES = 1500;
/** Room for the text and what surrounds it; stored blocks of zlib add some bytes to what does not compress. */
const SCRATCH_BYTES = MAX_FRAME_BYTES + 256;
const RANDOM_POOL_BYTES = 4096;
const RANDOM_DIGITS = 5;

/** Seals messages of the secure channel (3.2). One is enough for a process: it works in buffers of its own. */
export class MessageSealer {
  readonly #schedules: BlowfishCache;
  readonly #text = Buffer.alloc(SCRATCH_BYTES);
  readonly #clear = Buffer.alloc(SCRATCH_BYTES);
  readonly #randomPool = Buffer.alloc(RANDOM_POOL_BYTES);
  #randomAt = RANDOM_POOL_BYTES;

  constructor(schedules: BlowfishCache) {
    this.#schedules = schedules;
  }

  /**
   * Seals a payload: bytes, or a text that is sent as UTF-8.
   * @returns a buffer of its own, ready for the wire
   * @throws MessageSizeError unless the payload has 1 to 65408 bytes and the sealed message fits into a frame
   */
  seal(key: AgentKey, payload: Buffer | string, options: SealOptions): Buffer {
    const text = this.#writeText(payload, options);
    const stream = deflateSync(text, text.length <= SMALL_TEXT_BYTES ? DEFLATE_SMALL : DEFLATE_LARGE);
    const fill = BLOWFISH_BLOCK - (stream.length % BLOWFISH_BLOCK);
    this.#clear.fill(form.FILL, 0, fill);
    stream.copy(this.#clear, fill);
    const cipher = this.#encrypt(key, fill + stream.length, options.form);
    return assemble(cipher, options, payload.length);
  }

  /** Digest, random digits, counters and payload, in the scratch buffer. */
  #writeText(payload: Buffer | string, { counters, random }: SealOptions): Buffer {
    const text = this.#text;
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length;
    if (bytes === 0 || bytes > MAX_PAYLOAD_BYTES) throw new MessageSizeError(bytes);
    putDigits(text, form.DIGEST_CHARS, RANDOM_DIGITS, random ?? this.#randomBytes(2).readUInt16LE(0));
    putDigits(text, form.GLOBAL_AT, form.GLOBAL_DIGITS, counters.global);
    text[form.LOCAL_AT - 1] = form.COLON;
    putDigits(text, form.LOCAL_AT, form.LOCAL_DIGITS, counters.local);
    text[form.PAYLOAD_AT - 1] = form.COLON;
    if (typeof payload === 'string') text.write(payload, form.PAYLOAD_AT);
    else payload.copy(text, form.PAYLOAD_AT);
    const end = form.PAYLOAD_AT + bytes;
    text.write(hash('md5', text.subarray(form.DIGEST_CHARS, end), 'hex'), 0, 'latin1');
    return text.subarray(0, end);
  }

  /** Encrypts the first bytes of the clear scratch buffer; for `aes-iv` the IV comes first in what is returned. */
  #encrypt(key: AgentKey, length: number, used: form.MessageForm): Buffer {
    if (used === 'blowfish') {
      return this.#schedules.of(key).encryptCbc(this.#clear.subarray(0, length), form.BLOWFISH_IV);
    }
    const padding = form.AES_BLOCK - (length % form.AES_BLOCK);
    this.#clear.fill(padding, length, length + padding);
    const iv = used === 'aes' ? form.AES_IV : this.#randomBytes(form.AES_BLOCK);
    const encryption = createCipheriv('aes-256-cbc', key.aesKey, iv);
    // Padded by hand: one buffer comes out instead of two.
    encryption.setAutoPadding(false);
    const cipher = encryption.update(this.#clear.subarray(0, length + padding));
    return used === 'aes' ? cipher : Buffer.concat([iv, cipher]);
  }

  /** Bytes of the random pool, good until the next call. */
  #randomBytes(count: number): Buffer {
    if (this.#randomAt + count > RANDOM_POOL_BYTES) {
      randomFillSync(this.#randomPool);
      this.#randomAt = 0;
    }
    this.#randomAt += count;
    return this.#randomPool.subarray(this.#randomAt - count, this.#randomAt);
  }
}

function assemble(cipher: Buffer, { form: used, prefixId, framed }: SealOptions, payloadBytes: number): Buffer {
  const mark = used === 'blowfish' ? form.BLOWFISH_MARK : form.AES_MARK;
  const head = prefixId === undefined ? mark : `!${prefixId}!${mark}`;
  const length = head.length + cipher.length;
  // Deflate adds little to what does not compress, so the limit of the payload should do. No frame may ever be longer.
  if (length > MAX_FRAME_BYTES) throw new MessageSizeError(payloadBytes);
  const start = framed === true ? FRAME_HEADER_BYTES : 0;
  const wire = Buffer.allocUnsafe(start + length);
  if (framed === true) wire.writeUInt32LE(length, 0);
  wire.write(head, start, 'latin1');
  cipher.copy(wire, start + head.length);
  return wire;
}

function putDigits(text: Buffer, at: number, count: number, value: number): void {
  let rest = value;
  for (let index = at + count - 1; index >= at; index -= 1) {
    const next = Math.floor(rest / 10);
    text[index] = 0x30 + (rest - next * 10);
    rest = next;
  }
}
