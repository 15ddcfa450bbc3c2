import { createDecipheriv } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { AesDecipher } from '../../../../lib/agentlink/aes-decipher.js';
import { AES_BLOCK, AES_IV } from '../../../../lib/agentlink/message-form.js';

/** As each message is to be decrypted: alone, with the fixed IV. */
function decryptedAlone(key: Buffer, cipher: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-cbc', key, AES_IV);
  decipher.setAutoPadding(false);
  return Buffer.concat([decipher.update(cipher), decipher.final()]);
}

describe('AesDecipher', () => {
  it('decrypts every message as if it stood alone, whatever came before', () => {
    const blocks = fc.integer({ min: 1, max: 12 }).chain((count) => {
      const length = count * AES_BLOCK;
      return fc.uint8Array({ minLength: length, maxLength: length });
    });
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(key, fc.array(blocks, { minLength: 1, maxLength: 8 }), (keyBytes, messages) => {
        const decipher = new AesDecipher(Buffer.from(keyBytes));
        for (const message of messages) {
          const cipher = Buffer.from(message);
          expect(decipher.decrypt(cipher).equals(decryptedAlone(Buffer.from(keyBytes), cipher))).to.equal(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('refuses what is no whole blocks, and decrypts what comes then', () => {
    const key = Buffer.alloc(32, 7);
    const decipher = new AesDecipher(key);
    const cipher = Buffer.alloc(2 * AES_BLOCK, 1);
    for (const bytes of [0, 1, AES_BLOCK + 1]) {
      expect(() => decipher.decrypt(Buffer.alloc(bytes))).to.throw(RangeError, 'blocks');
      expect(decipher.decrypt(cipher).equals(decryptedAlone(key, cipher))).to.equal(true);
    }
  });
});
