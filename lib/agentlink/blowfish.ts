import { piWords } from './pi-words.js';

/** Bytes of a block. */
export const BLOWFISH_BLOCK = 8;

const ROUNDS = 16;
const SUBKEYS = ROUNDS + 2;
const BOXES = 4 * 256;
const MIN_KEY_BYTES = 4;
const MAX_KEY_BYTES = 4 * SUBKEYS;

let initialWords: Int32Array | undefined;

/**
 * Blowfish in CBC mode without padding (agents-and-groups.md 3.3). Node's crypto library has it only behind a switch of
 * the command line. It is there because old agents use it; new ones use AES.
 *
 * The tables depend on the key, so an instance is made once a key: it costs some 50 microseconds and 4 KiB.
 */
export class Blowfish {
  readonly #subkeys: Int32Array;
  readonly #boxes: Int32Array;
  /** The block in work. */
  #left = 0;
  #right = 0;

  /** @throws RangeError unless the key has 4 to 72 bytes */
  constructor(key: Uint8Array) {
    if (key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
      throw new RangeError(`a Blowfish key has ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes, not ${key.length}`);
    }
    initialWords ??= piWords(SUBKEYS + BOXES);
    this.#subkeys = initialWords.slice(0, SUBKEYS);
    this.#boxes = initialWords.slice(SUBKEYS);
    this.#mixIn(key);
    this.#replace(this.#subkeys);
    this.#replace(this.#boxes);
  }

  /**
   * Encrypts into a new buffer.
   * @throws RangeError when the text is not made of whole blocks
   */
  encryptCbc(clear: Buffer, iv: Buffer): Buffer {
    const cipher = Buffer.allocUnsafe(wholeBlocks(clear));
    let left = iv.readInt32BE(0);
    let right = iv.readInt32BE(4);
    for (let at = 0; at < clear.length; at += BLOWFISH_BLOCK) {
      this.#left = left ^ word(clear, at);
      this.#right = right ^ word(clear, at + 4);
      this.#encryptBlock();
      left = this.#left;
      right = this.#right;
      putWord(cipher, at, left);
      putWord(cipher, at + 4, right);
    }
    return cipher;
  }

  /**
   * Decrypts into a new buffer.
   * @throws RangeError when the text is not made of whole blocks
   */
  decryptCbc(cipher: Buffer, iv: Buffer): Buffer {
    const clear = Buffer.allocUnsafe(wholeBlocks(cipher));
    let left = iv.readInt32BE(0);
    let right = iv.readInt32BE(4);
    for (let at = 0; at < cipher.length; at += BLOWFISH_BLOCK) {
      const nextLeft = word(cipher, at);
      const nextRight = word(cipher, at + 4);
      this.#left = nextLeft;
      this.#right = nextRight;
      this.#decryptBlock();
      putWord(clear, at, this.#left ^ left);
      putWord(clear, at + 4, this.#right ^ right);
      left = nextLeft;
      right = nextRight;
    }
    return clear;
  }

  #mixIn(key: Uint8Array): void {
    let at = 0;
    for (let index = 0; index < SUBKEYS; index += 1) {
      let keyWord = 0;
      for (let byte = 0; byte < 4; byte += 1, at += 1) keyWord = (keyWord << 8) | (key[at % key.length] ?? 0);
      this.#subkeys[index] = (this.#subkeys[index] ?? 0) ^ keyWord;
    }
  }

  /** Replaces a table by what the cipher makes of the block before, from zeros on. */
  #replace(table: Int32Array): void {
    for (let index = 0; index < table.length; index += 2) {
      this.#encryptBlock();
      table[index] = this.#left;
      table[index + 1] = this.#right;
    }
  }

  #encryptBlock(): void {
    const subkeys = this.#subkeys;
    const boxes = this.#boxes;
    let left = this.#left;
    let right = this.#right;
    for (let round = 0; round < ROUNDS; round += 2) {
      left ^= subkeys[round] ?? 0;
      right ^= mixed(boxes, left) ^ (subkeys[round + 1] ?? 0);
      left ^= mixed(boxes, right);
    }
    this.#left = right ^ (subkeys[ROUNDS + 1] ?? 0);
    this.#right = left ^ (subkeys[ROUNDS] ?? 0);
  }

  #decryptBlock(): void {
    const subkeys = this.#subkeys;
    const boxes = this.#boxes;
    let left = this.#left;
    let right = this.#right;
    for (let round = ROUNDS + 1; round > 1; round -= 2) {
      left ^= subkeys[round] ?? 0;
      right ^= mixed(boxes, left) ^ (subkeys[round - 1] ?? 0);
      left ^= mixed(boxes, right);
    }
    this.#left = right ^ (subkeys[0] ?? 0);
    this.#right = left ^ (subkeys[1] ?? 0);
  }
}

/** The round function. */
function mixed(boxes: Int32Array, value: number): number {
  const sum = ((boxes[value >>> 24] ?? 0) + (boxes[256 + ((value >>> 16) & 0xff)] ?? 0)) | 0;
  return ((sum ^ (boxes[512 + ((value >>> 8) & 0xff)] ?? 0)) + (boxes[768 + (value & 0xff)] ?? 0)) | 0;
}

function word(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

function putWord(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

function wholeBlocks(bytes: Buffer): number {
  if (bytes.length % BLOWFISH_BLOCK === 0) return bytes.length;
  throw new RangeError(`${bytes.length} bytes are not made of blocks of ${BLOWFISH_BLOCK}`);
}
