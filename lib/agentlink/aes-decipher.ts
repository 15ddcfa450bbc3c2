import { createDecipheriv, type Decipher } from 'node:crypto';
import { AES_BLOCK, AES_IV } from './message-form.js';

/**
 * Decrypts message after message of one key, each as if it stood alone (agents-and-groups.md 3.2): AES-256-CBC with the fixed
 * IV. A cipher is dear to make, so one is kept and sees all messages as a single one. CBC lays the block before over each
 * decrypted block: over the first of a message it has laid the last of the message before, which is taken off again for the IV.
 */
export class AesDecipher {
  readonly #decipher: Decipher;
  /** The last block that was decrypted, still encrypted. */
  readonly #before = Buffer.from(AES_IV);

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    this.#decipher = createDecipheriv('aes-256-cbc', key, AES_IV);
    this.#decipher.setAutoPadding(false);
  }

  /**
   * Decrypts a message, with its padding.
   * @param cipher whole blocks, at least one
   * @throws RangeError when they are not
   */
  decrypt(cipher: Buffer): Buffer {
    // What is left of a block would shift all messages that come.
    if (cipher.length === 0 || cipher.length % AES_BLOCK !== 0) throw new RangeError('no whole blocks');
    const clear = this.#decipher.update(cipher);
    const before = this.#before;
    for (let at = 0; at < AES_BLOCK; at += 1) {
      clear[at] = (clear[at] ?? 0) ^ (before[at] ?? 0) ^ (AES_IV[at] ?? 0);
    }
    cipher.copy(before, 0, cipher.length - AES_BLOCK);
    return clear;
  }
}
