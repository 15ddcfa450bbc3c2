import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of everything sealed: another one is another form. */
const VERSION = 1;

/** What was sealed with another key, for another place, or was altered. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Seals what goes through NATS with a key of the cluster's own (AES-256-GCM): who runs the servers, or has stolen a login
 * to them, reads nothing and makes up nothing. Each text is bound to its place, the subject.
 */
export class Seal {
  readonly #key: Buffer;

  /** @param clusterKey `<key>` of `<cluster>` @param purpose what it seals: each purpose has a key of its own */
  constructor(clusterKey: string, cluster: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', clusterKey, cluster, `svc cluster ${purpose}`, KEY_BYTES));
  }

  seal(plain: Buffer, place: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place));
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws SealError */
  open(sealed: Uint8Array, place: string): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < 1 + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) {
      throw new SealError(`what came on ${place} is not sealed as it should be`);
    }
    const body = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(1, 1 + NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(body));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE_BYTES, body)), decipher.final()]);
    } catch (error) {
      const reason = `what came on ${place} was sealed with another key: is <key> of <cluster> the same everywhere?`;
      throw new SealError(reason, { cause: error });
    }
  }
}
