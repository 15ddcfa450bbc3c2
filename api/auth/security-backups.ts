import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { apidContract } from '../../lib/bus/contracts/apid.js';
import { MAX_BACKUP_BYTES } from '../../lib/security/security-backup.js';
import { SecurityBackupError, summaryOf, writeSecurityBackup } from '../rbac/security-backup.js';
import { readCheckedBackup, type RestoreParts, restoreSecurity } from './restore-security.js';
import type { SecurityCopy } from './security-copy.js';

export type SecurityBackupHandlers = Pick<Handlers<typeof apidContract>, 'security.backup' | 'security.restore'>;

/** What svc-control asks of a running svc-apid: a backup, and to put one back. */
export function securityBackupHandlers(parts: RestoreParts & { readonly copy: SecurityCopy }): SecurityBackupHandlers {
  return {
    'security.backup': async () => {
      const backup = parts.copy.current();
      return { gzip: await promisify(gzip)(writeSecurityBackup(backup)), summary: summaryOf(backup) };
    },

    'security.restore': async ({ gzip: bytes }) => {
      try {
        const report = await restoreSecurity(readCheckedBackup(await unpack(bytes)), parts);
        await parts.copy.write();
        return report;
      } catch (error) {
        if (!(error instanceof SecurityBackupError)) throw error;
        throw new BusError('bad_backup', error.message, { cause: error });
      }
    },
  };
}

async function unpack(bytes: Uint8Array): Promise<string> {
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: MAX_BACKUP_BYTES })).toString('utf8');
  } catch (error) {
    throw new SecurityBackupError('it cannot be unpacked', { cause: error });
  }
}
