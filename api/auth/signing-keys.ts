import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  completeTokenKeys,
  ensureTokenKeys,
  type TokenKeyFiles,
  type TokenKeyPair,
  writeTokenKeys,
} from '../../lib/security/token-keys.js';
import { WatchedFile } from './watched-file.js';

export type SigningKeyPair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** The key pair that signs tokens: P-521, PEM files in the home; changed files are noticed (rest-api.md 2.2). */
export class SigningKeys {
  readonly #privateFile: WatchedFile;
  readonly #publicFile: WatchedFile;
  #pair: SigningKeyPair | undefined;
  #held: SigningKeyPair | undefined;

  constructor(privatePath: string, publicPath: string) {
    this.#privateFile = new WatchedFile(privatePath);
    this.#publicFile = new WatchedFile(publicPath);
  }

  /** Makes the pair when either file is missing, and completes one whose renewal was broken off. */
  async ensure(): Promise<void> {
    const made = await ensureTokenKeys(this.#files());
    if (made.length === 0) completeTokenKeys(this.#files());
  }

  /** Has another pair: every token signed before is refused from then on. @throws the file system's error */
  take(pair: TokenKeyPair): void {
    try {
      writeTokenKeys(this.#files(), pair);
    } finally {
      this.#privateFile.written();
      this.#publicFile.written();
    }
  }

  /**
   * Has a pair that does not come from the files, and goes on whatever becomes of them; they are made to hold the same.
   * @throws the file system's error; the pair is in force
   */
  hold(pair: TokenKeyPair): void {
    const keys = keysOf(pair);
    if (this.#held?.publicKey.equals(keys.publicKey) !== true) this.#held = keys;
    if (this.#holds(pair)) return;
    this.take(pair);
  }

  /** The pair in force, as text. @throws as {@link current} */
  pem(): TokenKeyPair {
    const { privateKey, publicKey } = this.current();
    return {
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    };
  }

  /**
   * The pair of the files as they are now. A new object means that the keys changed.
   * @throws Error when a file is missing or holds no such key
   */
  current(): SigningKeyPair {
    if (this.#held !== undefined) return this.#held;
    const privateKey = this.#privateFile.read();
    const publicKey = this.#publicFile.read();
    if (this.#pair === undefined || privateKey.changed || publicKey.changed) {
      this.#pair = undefined;
      if (privateKey.text === undefined || publicKey.text === undefined) throw new Error('a key file is missing');
      this.#pair = keysOf({ privateKey: privateKey.text, publicKey: publicKey.text });
    }
    return this.#pair;
  }

  /** Whether the files do. */
  #holds({ privateKey, publicKey }: TokenKeyPair): boolean {
    try {
      return this.#privateFile.read().text === privateKey && this.#publicFile.read().text === publicKey;
    } catch {
      return false;
    }
  }

  #files(): TokenKeyFiles {
    return { privateKey: this.#privateFile.path, publicKey: this.#publicFile.path };
  }
}

/** @throws Error for what is no key */
function keysOf({ privateKey, publicKey }: TokenKeyPair): SigningKeyPair {
  return { privateKey: createPrivateKey(privateKey), publicKey: createPublicKey(publicKey) };
}
