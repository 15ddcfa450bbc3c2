import * as z from 'zod';

/** Longest backup of users and permissions, bytes: 10,000 objects of each kind take some ten million. */
export const MAX_BACKUP_BYTES = 64 * 1024 * 1024;

/** The automatic copy of users and permissions, below the home. */
export const SECURITY_COPY = 'api/configuration/security/rbac.last-good.json';

/** What svc-apid is started with to back up or restore while no svc-apid runs: it answers on standard output and ends. */
export const SECURITY_TASK_FLAG = '--security-task';

/** What is done to a backup of users and permissions. */
export type SecurityTask = 'backup' | 'restore';

const counts = z.object({
  users: z.int(),
  roles: z.int(),
  policies: z.int(),
  rules: z.int(),
});
/** How many objects of each kind there are. */
export type SecurityCounts = z.infer<typeof counts>;

/** What is in a backup. */
export const backupSummary = z.object({
  /** When it was made, ISO 8601. */
  made: z.string(),
  counts,
});
export type BackupSummary = z.infer<typeof backupSummary>;

/** What a restore did. */
export const restoreReport = backupSummary.extend({
  /** What there was before; absent when it could not be read, or nothing was there. */
  before: counts.optional(),
  /** File with what there was before, as a backup. */
  kept: z.string().optional(),
  /** Names of users who may do everything now. */
  administrators: z.array(z.string()),
  /** Where the store went that could not be used any more. */
  setAside: z.string().optional(),
  /** What is left to be mended. */
  warnings: z.array(z.string()),
});
export type RestoreReport = z.infer<typeof restoreReport>;

/** A backup with what is in it, as svc-apid gives it away on standard output. */
export const madeBackup = z.object({ text: z.string(), summary: backupSummary });
