import { createCipheriv } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { AgentKey } from './agent-key.js';
import { BLOWFISH_BLOCK } from './blowfish.js';
import type { BlowfishCache } from './blowfish-cache.js';
import { FRAME_HEADER_BYTES } from './frame-decoder.js';
import { MAX_FRAME_BYTES, MAX_PAYLOAD_BYTES } from './link-limits.js';
import type { CounterPair } from './message-counters.js';
import * as form from './message-form.js';
import { writeMessageText } from './message-text.js';
import { RandomPool } from './random-pool.js';

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

/** Seals messages of the secure channel (3.2). One is enough for a process: it works in buffers of its own. */
export class MessageSealer {
  readonly #schedules: BlowfishCache;
  readonly #text = Buffer.alloc(SCRATCH_BYTES);
  readonly #clear = Buffer.alloc(SCRATCH_BYTES);
  readonly #random = new RandomPool();

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
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length;
    if (bytes === 0 || bytes > MAX_PAYLOAD_BYTES) throw new MessageSizeError(bytes);
    return this.#text.subarray(0, writeMessageText(this.#text, payload, counters, random ?? this.#random.uint16()));
  }

  /** Encrypts the first bytes of the clear scratch buffer; for `aes-iv` the IV comes first in what is returned. */
  #encrypt(key: AgentKey, length: number, used: form.MessageForm): Buffer {
    if (used === 'blowfish') {
      return this.#schedules.of(key).encryptCbc(this.#clear.subarray(0, length), form.BLOWFISH_IV);
    }
    const padding = form.AES_BLOCK - (length % form.AES_BLOCK);
    this.#clear.fill(padding, length, length + padding);
    const iv = used === 'aes' ? form.AES_IV : this.#random.bytes(form.AES_BLOCK);
    const encryption = createCipheriv('aes-256-cbc', key.aesKey, iv);
    // Padded by hand: one buffer comes out instead of two.
    encryption.setAutoPadding(false);
    const cipher = encryption.update(this.#clear.subarray(0, length + padding));
    return used === 'aes' ? cipher : Buffer.concat([iv, cipher]);
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
