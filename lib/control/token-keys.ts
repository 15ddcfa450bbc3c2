import { generateKeyPair } from 'node:crypto';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { writeFileAtomically } from '../daemon/write-file-atomically.js';

/** Group members may read the keys, nobody else (rest-api.md 2.2). */
const PEM_MODE = 0o640;

/** Where the pair goes, and who it belongs to (only root may name another user). */
export type TokenKeyFiles = {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly owner?: { readonly uid: number; readonly gid: number };
};

/**
 * Makes the key pair that signs API tokens (ES512: curve P-521, PKCS#8 and SubjectPublicKeyInfo) when one of the two
 * files is missing (rest-api.md 2.2).
 * @returns paths of the files made, none when both were there
 * @throws the file system's error
 */
export async function ensureTokenKeys(files: TokenKeyFiles): Promise<string[]> {
  if (existsSync(files.privateKey) && existsSync(files.publicKey)) return [];
  const pair = await promisify(generateKeyPair)('ec', {
    namedCurve: 'P-521',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const options = { mode: PEM_MODE, durable: true, ...(files.owner === undefined ? {} : { owner: files.owner }) };
  writeFileAtomically(files.privateKey, pair.privateKey, options);
  writeFileAtomically(files.publicKey, pair.publicKey, options);
  return [files.privateKey, files.publicKey];
}
