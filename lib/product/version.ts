import { readFileSync } from 'node:fs';
import { productRoot } from './product-root.js';

/**
 * Version that agents, API clients and scripts compare (handshake, enrolment, `GET /`, agent 000). It names the
 * release line this product is a drop-in for, not the product itself (product.md 10, "Two versions").
 */
export const COMPATIBILITY_VERSION = '4.14.7';

let read: string | undefined;

/** The product's own version, from package.json as it was when it was asked for first: shown by `-V` and `svc-control info`. */
export function productVersion(): string {
  read ??= readVersion();
  return read;
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', productRoot()), 'utf8'));
  if (
    typeof manifest === 'object' &&
    manifest !== null &&
    'version' in manifest &&
    typeof manifest.version === 'string'
  ) {
    return manifest.version;
  }
  throw new Error('package.json has no version');
}

/** What `-V` of every program prints, without the end of its last line. @param program its name */
export function versionText(program: string): string {
  return `${program} v${productVersion()} - Security Manager\nLicence: Apache-2.0`;
}
