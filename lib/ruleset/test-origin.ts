import { hostname } from 'node:os';
import type { AlertOrigin } from '../engine/alert/alert.js';
import { toByteString } from '../engine/byte-string.js';

/** Where alerts come from when no running manager says it. */
export function testOrigin(): AlertOrigin {
  return { managerName: toByteString(hostname()), cluster: undefined, showHiddenLabels: false };
}
