import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { signCertificate } from '../../../lib/tls/sign-certificate.js';

/** A certificate and its key, PEM. */
export type TestCertificate = { readonly key: string; readonly cert: string };

export type TestCertificateOptions = {
  readonly commonName: string;
  /** Names and addresses of the extension. */
  readonly dns?: readonly string[];
  readonly ips?: readonly string[];
  /** The form before extensions, as `openssl x509 -req` makes certificates of agents. */
  readonly versionOne?: boolean;
  /** Signed by this one; by itself, as an authority, without it. */
  readonly issuer?: TestCertificate;
};

/** Makes a certificate for tests. */
export function testCertificate(options: TestCertificateOptions): TestCertificate {
  const { commonName, dns = [], ips = [], versionOne = false, issuer } = options;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const certificate = forge.pki.createCertificate();
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = `4${randomBytes(8).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const subject = [{ shortName: 'CN', value: commonName }];
  certificate.setSubject(subject);
  certificate.setIssuer(issuer === undefined ? subject : forge.pki.certificateFromPem(issuer.cert).subject.attributes);
  const altNames = [...dns.map((value) => ({ type: 2, value })), ...ips.map((ip) => ({ type: 7, ip }))];
  const extensions = [
    { name: 'basicConstraints', cA: issuer === undefined },
    ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames }]),
  ];
  if (versionOne) certificate.version = 0;
  else certificate.setExtensions(extensions);
  signCertificate(forge, certificate, issuer === undefined ? privateKey : createPrivateKey(issuer.key));
  return { key, cert: forge.pki.certificateToPem(certificate) };
}
