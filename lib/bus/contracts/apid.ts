import * as z from 'zod';
import { backupSummary, restoreReport } from '../../security/security-backup.js';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** A backup, compressed with gzip: uncompressed it might be larger than a message. */
const gzip = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');

/** What svc-apid answers on the bus; its section `api` is the effective api.yaml. */
export const apidContract = defineContract('svc-apid', {
  ...commonMethods,
  /** Users, roles, policies, security rules and security settings in one file, as they are on the disk. */
  'security.backup': { params: z.object({}), result: z.object({ gzip, summary: backupSummary }) },
  /** Puts back what a backup has, and ends all tokens. Error `bad_backup`: nothing was changed. */
  'security.restore': { params: z.object({ gzip }), result: restoreReport },
});
