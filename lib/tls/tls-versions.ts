import type { SecureContextOptions } from 'node:tls';

/** OpenSSL takes the suites of TLS 1.3 from a list of their own; Node wants both in one. */
const TLS13_SUITES = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256';

/**
 * Versions and ciphers of enrolment, for either side (agents-and-groups.md 2.1).
 * @param ciphers as OpenSSL writes them
 * @param any also versions below 1.2, which are only offered at the lowest security level
 */
export function tlsVersions(ciphers: string, any: boolean): SecureContextOptions {
  return {
    minVersion: any ? 'TLSv1' : 'TLSv1.2',
    ciphers: `${TLS13_SUITES}:${ciphers}${any ? ':@SECLEVEL=0' : ''}`,
  };
}
