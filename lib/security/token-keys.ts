import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { writeFileAtomically } from '../files/write-file-atomically.js';

/** Group members may read the keys, nobody else (rest-api.md 2.2). */
const PEM_MODE = 0o640;

/** Where the pair goes, and who it belongs to (only root may name another user). */
export type TokenKeyFiles = {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly owner?: { readonly uid: number; readonly gid: number };
};

/** A pair as its files hold it: PEM. */
export type TokenKeyPair = { readonly privateKey: string; readonly publicKey: string };

/** Makes a new key pair that signs API tokens (ES512: curve P-521, PKCS#8 and SubjectPublicKeyInfo, rest-api.md 2.2). */
export async function makeTokenKeyPair(): Promise<TokenKeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-521' });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** Puts a pair into its files. @throws the file system's error */
export function writeTokenKeys(files: TokenKeyFiles, { privateKey, publicKey }: TokenKeyPair): void {
  const options = { mode: PEM_MODE, durable: true, ...(files.owner === undefined ? {} : { owner: files.owner }) };
  writeFileAtomically(files.privateKey, privateKey, options);
  writeFileAtomically(files.publicKey, publicKey, options);
}

/**
 * Writes the public key anew where it does not belong to the private one: a renewal that was killed between its two files
 * would have every token refused for ever. Files that hold no keys are left to whoever uses them.
 * @returns whether it was written
 * @throws the file system's error
 */
export function completeTokenKeys(files: TokenKeyFiles): boolean {
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey(createPrivateKey(readFileSync(files.privateKey)));
    if (publicKey.equals(createPublicKey(readFileSync(files.publicKey)))) return false;
  } catch {
    return false;
  }
  const options = { mode: PEM_MODE, durable: true };
  writeFileAtomically(files.publicKey, publicKey.export({ type: 'spki', format: 'pem' }), options);
  return true;
}

/**
 * Makes a pair where one of the two files is missing.
 * @returns paths of the files made, none when both were there
 */
export async function ensureTokenKeys(files: TokenKeyFiles): Promise<string[]> {
  if (existsSync(files.privateKey) && existsSync(files.publicKey)) return [];
  writeTokenKeys(files, await makeTokenKeyPair());
  return [files.privateKey, files.publicKey];
}
