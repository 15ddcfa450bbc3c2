import { readdirSync } from 'node:fs';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { groupName } from '../../../lib/bus/contracts/db-groups.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import type { Logger } from '../../../lib/log/logger.js';
import { LocalGroups } from '../groups/local-groups.js';
import type { Registry } from '../registry.js';
import type { BackupFiles } from './backup-files.js';
import { readRegistryBackup, type RegistryBackup, RegistryBackupError } from './registry-backup.js';
import { registerKnown, restoreRegistry } from './restore-registry.js';

export type RebuildParts = {
  readonly registry: Registry;
  readonly files: BackupFiles;
  readonly keys: readonly AgentKey[];
  /** `{home}/etc/shared`: a group a folder. */
  readonly shared: string;
  readonly logger: Logger;
  /** Epoch seconds. */
  readonly now: number;
};

/**
 * Fills a registry that is empty since the one before was damaged: groups from their folders, what was known of agents from the
 * newest backup that is whole, and the others from their keys. States come with the next keepalives.
 * @returns what came from where, for the log
 */
export async function rebuildRegistry({ registry, files, keys, shared, logger, now }: RebuildParts): Promise<string> {
  await registry.edit((edit) => {
    for (const name of groupFolders(shared)) if (!registry.groups.has(name)) edit.setGroup(name, { dateAdd: now });
  });
  await registry.ensureDefaultGroup(now);
  const found = await newestBackup(files, logger);
  const restored =
    found === undefined ? undefined : await restoreRegistry(registry, found.backup, keys, new LocalGroups(registry));
  const added = await registerKnown(registry, keys, now);
  const fromBackup =
    found === undefined || restored === undefined
      ? 'There is no backup that could be used'
      : `${String(restored.agents)} agents are as in the backup '${found.name}'`;
  return `${fromBackup}; ${String(added)} come from etc/client.keys alone, in the group 'default'`;
}

async function newestBackup(
  files: BackupFiles,
  logger: Logger,
): Promise<{ readonly name: string; readonly backup: RegistryBackup } | undefined> {
  for (const { name } of files.list().reverse()) {
    try {
      return { name, backup: readRegistryBackup(await files.read(name)) };
    } catch (error) {
      if (!(error instanceof RegistryBackupError)) throw error;
      logger.warn(`The backup '${name}' cannot be used: ${error.message}.`);
    }
  }
  return undefined;
}

function groupFolders(shared: string): string[] {
  const entries = ifPresentSync(() => readdirSync(shared, { withFileTypes: true })) ?? [];
  return entries
    .filter((entry) => entry.isDirectory() && groupName.safeParse(entry.name).success)
    .map(({ name }) => name);
}
