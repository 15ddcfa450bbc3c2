import { type KeyObject, sign } from 'node:crypto';
import type forge from 'node-forge';

/**
 * Signs a certificate with SHA-256 and an RSA key, natively: node-forge's own arithmetic takes a quarter of a second of CPU.
 * @param library node-forge, which few programs load
 */
export function signCertificate(
  library: Pick<typeof forge, 'asn1' | 'md'>,
  certificate: forge.pki.Certificate,
  key: KeyObject,
): void {
  const signer = {
    sign: () => {
      const signed = library.asn1.toDer(certificate.tbsCertificate).getBytes();
      return sign('sha256', Buffer.from(signed, 'latin1'), key).toString('latin1');
    },
  };
  // Of a key, only its method `sign` is called.
  certificate.sign(signer as unknown as forge.pki.rsa.PrivateKey, library.md.sha256.create());
}
