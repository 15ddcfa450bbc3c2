import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, fchmodSync, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { withRegularFileSync } from '../files/regular-file.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import type { Logger } from '../log/logger.js';
import { signCertificate } from './sign-certificate.js';

/** Days a generated certificate is valid (rest-api.md 1.1). */
const VALID_DAYS = 365;
/** Bits of the generated RSA key (rest-api.md 1.1). */
const KEY_BITS = 2048;
const KEY_MODE = 0o400;
/** What clients check the API with is no secret. */
const CERTIFICATE_MODE = 0o640;

/** Whom a certificate names and what it may be used for. */
type CertificateKind = {
  readonly subject: readonly { readonly shortName: string; readonly value: string }[];
  /** Extensions beside the alternative names. */
  readonly extensions: readonly Readonly<Record<string, unknown>>[];
};

const API: CertificateKind = {
  subject: [
    { shortName: 'C', value: 'DE' },
    { shortName: 'ST', value: 'None' },
    { shortName: 'L', value: 'None' },
    { shortName: 'O', value: 'Security Manager' },
    { shortName: 'CN', value: 'security-manager' },
  ],
  extensions: [],
};

/** agents-and-groups.md 2.1: agents that check the manager take this very certificate for their authority. */
const ENROLLMENT: CertificateKind = {
  subject: [
    { shortName: 'C', value: 'US' },
    { shortName: 'ST', value: 'California' },
    { shortName: 'CN', value: 'Wazuh' },
  ],
  extensions: [
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: true },
    { name: 'basicConstraints', critical: true, cA: true },
  ],
};

export type CertificateFiles = { readonly key: string; readonly certificate: string };

/**
 * Makes a private key (RSA 2048, PKCS#8 PEM) and a self-signed X.509 v3 certificate for `localhost` (rest-api.md 1.1),
 * the loopback addresses and the host's own name, so that a client on this host can verify it however it calls.
 * @param now start of the validity
 * @param host name of this host
 */
export function makeSelfSignedCertificate(now: Date, host = hostname()): Promise<{ key: string; certificate: string }> {
  return make(API, now, host);
}

/**
 * The same for the enrolment of agents (agents-and-groups.md 2.1).
 * @param key RSA key in PEM to make the certificate for; without it one is made
 * @throws Error when the key is no RSA key in PEM, or has a pass phrase
 */
export function makeEnrollmentCertificate(
  now: Date,
  key?: string,
  host = hostname(),
): Promise<{ key: string; certificate: string }> {
  return make(ENROLLMENT, now, host, key);
}

async function makeKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS, publicExponent: 65537 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function make(
  kind: CertificateKind,
  now: Date,
  host: string,
  existing?: string,
): Promise<{ key: string; certificate: string }> {
  const key = existing ?? (await makeKey());
  // Loaded when it is needed: it takes a sixth of the time in which svc-control starts.
  const { default: forge } = await import('node-forge');
  const privateKey = rsaKey(key);
  const certificate = forge.pki.createCertificate();
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  // A leading zero bit keeps the serial positive; a zero first byte would shorten it.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  certificate.serialNumber = serial.toString('hex');
  certificate.validity.notBefore = new Date(now);
  certificate.validity.notAfter = new Date(now.getTime() + VALID_DAYS * 86_400_000);
  certificate.setSubject([...kind.subject]);
  certificate.setIssuer([...kind.subject]);
  certificate.setExtensions([...kind.extensions, { name: 'subjectAltName', altNames: alternativeNames(host) }]);
  signCertificate(forge, certificate, privateKey);
  return { key, certificate: forge.pki.certificateToPem(certificate) };
}

function rsaKey(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'rsa') throw new Error('the key is no RSA key');
  return key;
}

/** DNS names are type 2 and addresses type 7 in RFC 5280's GeneralName. */
function alternativeNames(host: string): { type: number; value?: string; ip?: string }[] {
  const names: { type: number; value?: string; ip?: string }[] = [
    { type: 2, value: 'localhost' },
    { type: 7, ip: '127.0.0.1' },
    { type: 7, ip: '::1' },
  ];
  if (host !== 'localhost' && /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host)) {
    names.push({ type: 2, value: host });
  }
  return names;
}

/**
 * Makes key and certificate when either file is missing; files that exist together are left alone. The key is for its
 * owner alone, the certificate for the group, too: clients of this host check the API with it. Each is written in one step.
 * @returns whether files were made
 */
export async function ensureSelfSignedCertificate(
  files: CertificateFiles,
  logger: Pick<Logger, 'info'>,
  now = new Date(),
): Promise<boolean> {
  if (existsSync(files.key) && existsSync(files.certificate)) {
    shareCertificate(files.certificate);
    return false;
  }
  logger.info('HTTPS is enabled but cannot find the private key and/or certificate. Attempting to generate them');
  const made = await makeSelfSignedCertificate(now);
  mkdirSync(dirname(files.key), { recursive: true, mode: 0o770 });
  writeFileAtomically(files.key, made.key, { mode: KEY_MODE, durable: true });
  logger.info(`Generated private key file in ${files.key}`);
  writeFileAtomically(files.certificate, made.certificate, { mode: CERTIFICATE_MODE, durable: true });
  logger.info(`Generated certificate file in ${files.certificate}`);
  return true;
}

/**
 * Makes a new certificate for the key that is there, so that nothing else has to change with it.
 * @param now start of its validity
 * @throws Error when the key cannot be used; the file system's error
 */
export async function renewSelfSignedCertificate(files: CertificateFiles, now: Date): Promise<void> {
  const { certificate } = await make(API, now, hostname(), readFileSync(files.key, 'utf8'));
  writeFileAtomically(files.certificate, certificate, { mode: CERTIFICATE_MODE, durable: true });
}

/** Earlier versions made it for its owner alone, while clients of the host are to check the API with it. */
function shareCertificate(path: string): void {
  try {
    withRegularFileSync(path, (fd, { mode, nlink, uid }) => {
      if ((mode & 0o777) === 0o400 && nlink === 1 && uid === process.geteuid?.()) fchmodSync(fd, CERTIFICATE_MODE);
    });
  } catch {
    // A link, or not ours: whoever put it there chose who may read it.
  }
}
