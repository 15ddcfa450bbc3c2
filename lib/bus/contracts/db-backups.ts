import * as z from 'zod';

const backupFile = z.object({
  name: z.string(),
  bytes: z.number().int(),
  /** ISO 8601. */
  made: z.string(),
});

/** Backups of the registry of agents in `backup/db` (daemons-and-config.md 9.3). */
export const backupMethods = {
  /** Makes one now. Error `disk_failed`. */
  'backups.create': { params: z.object({}), result: backupFile },

  /** The oldest first. */
  'backups.list': { params: z.object({}), result: z.object({ items: z.array(backupFile) }) },

  /**
   * Brings back what a backup knows of agents that have a key, and groups that are missing. Errors `no_backup`, `bad_backup`,
   * `disk_full`, `disk_failed`: nothing was changed then.
   */
  'backups.restore': {
    params: z.object({
      /** Of `backups.list`. */
      name: z.string().max(256),
      /** Whether what there is now is backed up before; default yes. */
      save: z.boolean().optional(),
    }),
    result: z.object({
      made: z.string(),
      agents: z.number().int(),
      groups: z.number().int(),
      /** Agents of the backup that have no key any more. */
      withoutKey: z.number().int(),
      /** Name of the backup of what there was before. */
      saved: z.string().optional(),
    }),
  },
};
