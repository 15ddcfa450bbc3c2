import { statSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { ConfigError } from '../../../lib/config/config-error.js';
import { readLimited } from '../../../lib/config/configuration-file.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { DownloadError } from './download-error.js';

/** Authorities of one's own, PEM, beside the public ones; read again when it changes. */
export const AUTHORITIES_FILE = 'etc/download-ca.pem';
/** Bytes of that file; a bundle of all public authorities has a quarter of it. */
const MAX_BYTES = 1_048_576;

/** Whose certificates are believed: public authorities, and those the file of this home names. */
export class DownloadTrust {
  readonly #path: string;
  #known: { readonly state: string; readonly context: SecureContext } | undefined;

  constructor(home: Home) {
    this.#path = home.path(AUTHORITIES_FILE);
  }

  /**
   * The context with the authorities of the file; undefined without a file.
   * @throws DownloadError `file` when it cannot be used: believing fewer would fail with a misleading reason
   */
  context(): SecureContext | undefined {
    const stat = statSync(this.#path, { throwIfNoEntry: false, bigint: true });
    if (stat === undefined) return undefined;
    const state = [stat.ino, stat.size, stat.mtimeNs].join();
    if (this.#known?.state === state) return this.#known.context;
    try {
      const own = readLimited(this.#path, AUTHORITIES_FILE, MAX_BYTES).toString();
      if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate in PEM');
      const context = createSecureContext({ ca: [...rootCertificates, own] });
      this.#known = { state, context };
      return context;
    } catch (error) {
      const reason = error instanceof ConfigError ? error.message : `'${AUTHORITIES_FILE}': ${describeError(error)}`;
      throw new DownloadError('file', reason);
    }
  }
}
