import { existsSync } from 'node:fs';
import { readRunFile } from '../../../lib/files/read-run-file.js';
import type { Home } from '../../../lib/home/home.js';
import { HomeError, type HomeRecord } from '../../../lib/home/home-record.js';
import { makeEnrollmentCertificate } from '../../../lib/tls/self-signed-certificate.js';
import { makeFile } from './make-file.js';

/** Key and certificate with which agents enrol, and what of them a new installation lacks until its first start. */
const KEY = 'etc/sslmanager.key';
const CERTIFICATE = 'etc/sslmanager.cert';

/** The group reads them: svc-authd is the service user. */
const MODE = 0o640;

/**
 * Makes key and certificate of svc-authd in `etc`, which is root's, where they are missing. A key that is there already
 * gets its certificate.
 * @param gid service group of an installed home, where this process is root
 * @returns paths below the home that were made
 * @throws HomeError when the key is none that a certificate can be made for; the file system's error
 */
export async function ensureEnrollmentCertificate(home: Home, gid?: number): Promise<string[]> {
  if (existsSync(home.path(CERTIFICATE))) return [];
  const failed = (error: unknown) =>
    new HomeError(`no certificate can be made for '${home.path(KEY)}': ${(error as Error).message}`);
  let existing: string | undefined;
  try {
    // The service user may have put a pipe or a link there: neither is waited for nor followed.
    if (existsSync(home.path(KEY))) existing = readRunFile(home.path(KEY)).text;
  } catch (error) {
    throw failed(error);
  }
  const made = await makeEnrollmentCertificate(new Date(), existing).catch((error: unknown) => {
    throw failed(error);
  });
  const owner = gid === undefined ? undefined : { uid: 0, gid };
  const files = [
    [KEY, made.key],
    [CERTIFICATE, made.certificate],
  ] as const;
  return files.filter(([path, text]) => makeFile(home.path(path), MODE, () => text, owner)).map(([path]) => path);
}

/**
 * What an installation makes at its first start, so that no copy of an image shares it with another. Keys, certificate and
 * passwords of the API are svc-apid's own to make.
 * @throws as `ensureEnrollmentCertificate`
 */
export async function makeFirstStartSecrets(home: Home, record: HomeRecord): Promise<void> {
  if (record.role !== 'server') return;
  await ensureEnrollmentCertificate(home, process.geteuid?.() === 0 ? record.gid : undefined);
}
