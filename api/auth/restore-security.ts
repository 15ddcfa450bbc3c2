import { loadContract } from '../../lib/contract/api-contract.js';
import { writeFileDurably } from '../../lib/files/write-file-durably.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { RestoreReport } from '../../lib/security/security-backup.js';
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
import type { SigningKeys } from './signing-keys.js';

export type RestoreParts = {
  readonly files: SecurityFiles;
  readonly store: RbacStore;
  readonly settings: SecuritySettings;
  readonly keys: SigningKeys;
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
 * Puts back what a backup has instead of what there is, in one transaction, and ends all tokens. Killed at any moment it
 * leaves the state before, or that of the backup: the keys of tokens change first, and settings that were not written to
 * their file are at the next start.
 * @param backup that was checked
 * @throws the file system's error or StoreError; users and permissions are as before then
 */
export async function restoreSecurity(backup: SecurityBackup, parts: RestoreParts): Promise<RestoreReport> {
  const { files, store, settings, keys, logger } = parts;
  const before = currentBackup(store, settings, parts.now());
  const hadUsers = before.objects.users.length > 0;
  // So that a restore of the wrong file can be taken back.
  if (hadUsers) await writeFileDurably(files.beforeRestore, writeSecurityBackup(before), { mode: 0o600 });
  await keys.renew();
  await store.replace(backup.objects, backup.settings);
  const warnings: string[] = [];
  try {
    await applyRestoredSettings(parts);
  } catch (error) {
    warnings.push(`The settings of tokens could not be written, the next start tries again: ${describeError(error)}`);
  }
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

/** Writes the settings of a restore that was broken off before they were in their file. @throws the file system's error */
export async function applyRestoredSettings({
  store,
  settings,
}: Pick<RestoreParts, 'store' | 'settings'>): Promise<void> {
  const { restoredSettings } = store;
  if (restoredSettings === undefined) return;
  const { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode } = restoredSettings;
  settings.replace({ tokenLifetimeSeconds, rbacMode });
  await store.forgetRestoredSettings();
}
