import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import type { Logger } from '../../../lib/log/logger.js';
import { openOrSetAside } from '../../../lib/store/set-aside.js';
import { damageText } from '../agent-stores.js';
import type { Registry } from '../registry.js';
import type { BackupFiles } from './backup-files.js';
import { rebuildRegistry } from './rebuild-registry.js';

export type OpenRegistryParts = {
  readonly open: () => Promise<Registry>;
  /** `{home}/queue/db` */
  readonly directory: string;
  readonly backups: BackupFiles;
  /** @throws KeyFileError, or the file system's error */
  readonly keys: () => Promise<readonly AgentKey[]>;
  /** `{home}/etc/shared` */
  readonly shared: string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Opens the registry; one that is damaged is set aside, and an empty one filled from backups and keys. @throws StoreError */
export async function openRegistry(parts: OpenRegistryParts): Promise<Registry> {
  const { open, directory, backups, keys, shared, logger, now } = parts;
  const { store: registry, damage } = await openOrSetAside(open, directory, now());
  if (damage === undefined) return registry;
  try {
    const seconds = Math.floor(now() / 1000);
    const source = await rebuildRegistry({
      registry,
      files: backups,
      keys: await keys(),
      shared,
      logger,
      now: seconds,
    });
    logger.error(`${damageText(damage)} ${source}.`);
    return registry;
  } catch (error) {
    await registry.close();
    throw error;
  }
}
