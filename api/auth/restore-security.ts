import { loadContract } from '../../lib/contract/api-contract.js';
import { writeFileDurably } from '../../lib/files/write-file-durably.js';
import type { Logger } from '../../lib/log/logger.js';
import type { RestoreReport } from '../../lib/security/security-backup.js';
import { makeTokenKeyPair } from '../../lib/security/token-keys.js';
import type { AccessDecisions } from '../rbac/access-decisions.js';
import { checkSecurityObjects } from '../rbac/check-security-objects.js';
import { ADMINISTRATOR_ROLE } from '../rbac/default-objects.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import {
  countObjects,
  readSecurityBackup,
  type SecurityBackup,
  summaryOf,
  writeSecurityBackup,
} from '../rbac/security-backup.js';
import type { SecurityFiles } from './security-files.js';
import type { SecuritySettings } from './security-settings.js';

export type RestoreParts = {
  readonly files: SecurityFiles;
  readonly store: RbacStore;
  readonly settings: SecuritySettings;
  readonly decisions: Pick<AccessDecisions, 'replace'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** What is on the disk now, as a backup. @param now epoch milliseconds @throws StoreError `damaged` */
export function currentBackup(store: RbacStore, settings: SecuritySettings, now: number): SecurityBackup {
  const { tokenLifetimeSeconds, rbacMode } = settings.current();
  return {
    made: new Date(now).toISOString(),
    settings: { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode },
    objects: store.committed(),
  };
}

/** @throws SecurityBackupError for what is no backup, or has what the API would not take */
export function readCheckedBackup(text: string): SecurityBackup {
  const backup = readSecurityBackup(text);
  checkSecurityObjects(backup.objects, loadContract().operations);
  return backup;
}

/**
 * Puts back what a backup has instead of what there is, and ends all tokens.
 * @param backup that was checked
 * @throws the file system's error or StoreError; users and permissions are as before then
 */
export async function restoreSecurity(backup: SecurityBackup, parts: RestoreParts): Promise<RestoreReport> {
  const { files, store, settings, decisions, logger } = parts;
  const before = currentBackup(store, settings, parts.now());
  const hadUsers = before.objects.users.length > 0;
  // So that a restore of the wrong file can be taken back.
  if (hadUsers) await writeFileDurably(files.beforeRestore, writeSecurityBackup(before), { mode: 0o600 });
  const warnings = await decisions.replace(backup, await makeTokenKeyPair());
  const { users, roles, policies, rules } = backup.objects;
  logger.warn(
    `Users and permissions were restored from a backup of ${backup.made}: ${users.length} users, ${roles.length} roles, ` +
      `${policies.length} policies, ${rules.length} security rules. All tokens have ended.`,
  );
  for (const warning of warnings) logger.error(warning);
  const administrators = users.filter((user) => user.roles.includes(ADMINISTRATOR_ROLE)).map(({ name }) => name);
  const done = { ...summaryOf(backup), administrators, warnings };
  return hadUsers ? { ...done, before: countObjects(before.objects), kept: files.beforeRestore } : done;
}
