import { hash } from 'node:crypto';
import type { AgentAddress } from '../network/agent-address.js';

/** Characters of the digest of id and name that take part in a key. */
const NAME_PART = 15;
/** AES takes the first 32 characters: the digest of the raw key alone. */
const AES_KEY_BYTES = 32;

/** A text of the key file as bytes: the file is read as one character a byte. */
function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function md5(text: string): string {
  return hash('md5', bytes(text), 'hex');
}

/** The 47 characters that a key of the channel is made of (agents-and-groups.md 3.3). */
export function deriveEncryptionKey(id: string, name: string, rawKey: string): string {
  return md5(rawKey) + md5(md5(name) + md5(id)).slice(0, NAME_PART);
}

/** What an agent sends at enrolment to show which key it holds: SHA-1 in hex (2.3, part `K`). */
export function enrollmentKeyHash(id: string, name: string, rawKey: string): string {
  return hash('sha1', bytes(id + name + rawKey), 'hex');
}

/** The identity of an agent with its secret: what the codec needs to open and seal its messages. */
export class AgentKey {
  #aes: Buffer | undefined;
  #blowfish: Buffer | undefined;

  /** @param id digits, as in the key file */
  constructor(
    readonly id: string,
    readonly name: string,
    readonly address: AgentAddress,
    readonly rawKey: string,
  ) {}

  /** `any`, an address or a network, as in the key file. */
  get ip(): string {
    return this.address.text;
  }

  /** Key for AES-256: 32 ASCII bytes, derived when first needed. */
  get aesKey(): Buffer {
    return (this.#aes ??= bytes(md5(this.rawKey).slice(0, AES_KEY_BYTES)));
  }

  /** Key for Blowfish: 47 ASCII bytes, derived when first needed. */
  get blowfishKey(): Buffer {
    return (this.#blowfish ??= bytes(deriveEncryptionKey(this.id, this.name, this.rawKey)));
  }

  /** Whether both stand for the same secret and identity. */
  equals(other: AgentKey): boolean {
    return this.id === other.id && this.name === other.name && this.ip === other.ip && this.rawKey === other.rawKey;
  }
}
