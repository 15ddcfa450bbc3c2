import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { backupMethods } from '../../../lib/bus/contracts/db-backups.js';
import type { BackupFile } from './backup-files.js';
import type { RegistryBackups } from './registry-backups.js';

/** Answers of svc-db about backups (lib/bus/contracts/db-backups.ts). */
export function backupHandlers(
  backups: RegistryBackups,
): Pick<Handlers<typeof dbContract>, keyof typeof backupMethods> {
  return {
    'backups.create': async () => shown(await backups.create()),
    'backups.list': () => ({ items: backups.list().map(shown) }),
    'backups.restore': async ({ name, save }) => {
      const { saved, ...counts } = await backups.restore(name, save ?? true);
      return { ...counts, ...(saved === undefined ? {} : { saved }) };
    },
  };
}

function shown({ name, bytes, made }: BackupFile): { name: string; bytes: number; made: string } {
  return { name, bytes, made: made.toISOString() };
}
