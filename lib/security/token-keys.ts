import { generateKeyPair } from 'node:crypto';
import { existsSync } from 'node:fs';
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

/**
 * Makes a new key pair that signs API tokens (ES512: curve P-521, PKCS#8 and SubjectPublicKeyInfo, rest-api.md 2.2).
 * @throws the file system's error
 */
export async function makeTokenKeys(files: TokenKeyFiles): Promise<void> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-521' });
  const options = { mode: PEM_MODE, durable: true, ...(files.owner === undefined ? {} : { owner: files.owner }) };
  writeFileAtomically(files.privateKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), options);
  writeFileAtomically(files.publicKey, publicKey.export({ type: 'spki', format: 'pem' }), options);
}

/**
 * The same where one of the two files is missing.
 * @returns paths of the files made, none when both were there
 */
export async function ensureTokenKeys(files: TokenKeyFiles): Promise<string[]> {
  if (existsSync(files.privateKey) && existsSync(files.publicKey)) return [];
  await makeTokenKeys(files);
  return [files.privateKey, files.publicKey];
}
