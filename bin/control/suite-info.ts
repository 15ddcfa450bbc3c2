import type { HomeRole } from '../../lib/home/home-record.js';
import { COMPATIBILITY_VERSION, productVersion } from '../../lib/product/version.js';

/** Revision that goes with the compatibility version: scripts compare it, it says nothing about the product. */
const COMPATIBILITY_REVISION = 'rc1';

/** What `svc-control info` shows: names scripts know with the compatibility version, then the product's own. */
export function suiteInfo(role: HomeRole, home: string): ReadonlyMap<string, string> {
  return new Map([
    ['WAZUH_VERSION', `v${COMPATIBILITY_VERSION}`],
    ['WAZUH_REVISION', COMPATIBILITY_REVISION],
    ['WAZUH_TYPE', role],
    ['VERSION', `v${productVersion()}`],
    ['HOME', home],
  ]);
}

/** Value that a flag of `info` asks for alone (daemons-and-config.md 3.1). */
export const INFO_FLAGS: ReadonlyMap<string, string> = new Map([
  ['-v', 'WAZUH_VERSION'],
  ['-r', 'WAZUH_REVISION'],
  ['-t', 'WAZUH_TYPE'],
]);
