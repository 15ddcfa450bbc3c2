import { createPrivateKey, createPublicKey, generateKeyPair, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type forge from 'node-forge';
import { signCertificate } from '../../../lib/tls/sign-certificate.js';

/** A key (PKCS#8) and its certificate, PEM. */
export type KeyAndCertificate = { readonly key: string; readonly certificate: string };

/** The authority lives as long as the cluster; a server's certificate is made anew with `cluster add`. */
const VALID_DAYS = 3650;
const AUTHORITY_BITS = 3072;
const SERVER_BITS = 2048;
/** Clocks of hosts differ a little: a certificate is valid a while before it was made. */
const EARLIER_MS = 3_600_000;

/** Makes the authority of a cluster: what it signs may speak as a NATS server of it. */
export async function makeClusterAuthority(cluster: string, now: Date): Promise<KeyAndCertificate> {
  const key = await makeKey(AUTHORITY_BITS);
  const name = `${cluster} cluster authority`;
  const certificate = await make({ key, name, now, issuer: { key, name } }, [
    { name: 'basicConstraints', critical: true, cA: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return { key, certificate };
}

/** Makes key and certificate of a NATS server: for those who connect to it, and for its connections to other servers. */
export async function makeServerCertificate(
  authority: KeyAndCertificate,
  server: { readonly name: string; readonly host: string },
  now: Date,
): Promise<KeyAndCertificate> {
  const key = await makeKey(SERVER_BITS);
  const { default: library } = await import('node-forge');
  const issuer = library.pki.certificateFromPem(authority.certificate).subject.getField('CN') as { value: string };
  const isAddress = isIP(server.host) !== 0;
  const certificate = await make({ key, name: server.name, now, issuer: { key: authority.key, name: issuer.value } }, [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
    // GeneralName of RFC 5280: 2 is a DNS name, 7 an address.
    { name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: server.host } : { type: 2, value: server.host }] },
  ]);
  return { key, certificate };
}

async function makeKey(modulusLength: number): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength, publicExponent: 65537 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

type CertificateParts = {
  readonly key: string;
  readonly name: string;
  readonly now: Date;
  readonly issuer: { readonly key: string; readonly name: string };
};

async function make(
  { key, name, now, issuer }: CertificateParts,
  extensions: readonly Readonly<Record<string, unknown>>[],
): Promise<string> {
  const { default: library } = await import('node-forge');
  const certificate = library.pki.createCertificate();
  const publicKey = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }).toString();
  certificate.publicKey = library.pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = serialNumber();
  certificate.validity.notBefore = new Date(now.getTime() - EARLIER_MS);
  certificate.validity.notAfter = new Date(now.getTime() + VALID_DAYS * 86_400_000);
  const subject = (value: string): forge.pki.CertificateField[] => [
    { shortName: 'O', value: 'Security Manager' },
    { shortName: 'CN', value },
  ];
  certificate.setSubject(subject(name));
  certificate.setIssuer(subject(issuer.name));
  certificate.setExtensions([...extensions]);
  signCertificate(library, certificate, createPrivateKey(issuer.key));
  return library.pki.certificateToPem(certificate);
}

/** A leading zero bit keeps it positive; a zero first byte would shorten it. */
function serialNumber(): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial.toString('hex');
}
