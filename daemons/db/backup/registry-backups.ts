import { BusError } from '../../../lib/bus/bus-error.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { GroupAuthority } from '../groups/group-authority.js';
import type { Registry } from '../registry.js';
import type { BackupFile, BackupFiles } from './backup-files.js';
import { readRegistryBackup, RegistryBackupError, writeRegistryBackup } from './registry-backup.js';
import { type KnownKey, type RestoreCounts, restoreRegistry } from './restore-registry.js';

/** `<wdb><backup database="global">` (daemons-and-config.md 9.3). */
export type BackupSettings = {
  readonly enabled: boolean;
  /** Seconds. */
  readonly interval: number;
  readonly max_files: number;
};

export type RegistryBackupsParts = {
  readonly registry: Registry;
  readonly authority: GroupAuthority;
  readonly files: BackupFiles;
  /** Agents that have a key now. @throws KeyFileError, or the file system's error */
  readonly keys: () => Promise<Iterable<KnownKey>>;
  /** Those in force. */
  readonly settings: () => BackupSettings;
  readonly logger: Logger;
  /** Is told while backups cannot be made. */
  readonly setProblem: (problem: string | undefined) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** What a restore did. */
export type Restored = RestoreCounts & {
  readonly made: string;
  /** Backup of what there was before. */
  readonly saved: string | undefined;
};

const SECOND_MS = 1000;

/** Backups of the registry, by time and on demand, while requests go on. One is made or brought back at a time. */
export class RegistryBackups {
  readonly #parts: RegistryBackupsParts;
  readonly #counters = { made: 0, failed: 0, restored: 0 };
  #working: Promise<unknown> = Promise.resolve();

  constructor(parts: RegistryBackupsParts) {
    this.#parts = parts;
  }

  get counters(): Readonly<{ made: number; failed: number; restored: number }> {
    return this.#counters;
  }

  list(): readonly BackupFile[] {
    return this.#parts.files.list();
  }

  /** @throws BusError `disk_failed` */
  create(): Promise<BackupFile> {
    return this.#inTurn(async () => {
      const file = await this.#write(false);
      this.#prune();
      return file;
    });
  }

  /** Makes one when the last one is older than the interval, or there is none. Never throws. */
  async look(): Promise<void> {
    const { settings, now, setProblem, logger } = this.#parts;
    const { enabled, interval } = settings();
    if (!enabled) return;
    try {
      const newest = this.list().at(-1)?.made.getTime() ?? -Infinity;
      // One from the future is of a clock that was set back.
      if (newest <= now() && now() - newest < interval * SECOND_MS) return;
      const { name } = await this.create();
      logger.debug(`Backup of agents made: ${name}`);
      setProblem(undefined);
    } catch (error) {
      setProblem(`Agents cannot be backed up: ${describeError(error)}`);
    }
  }

  /**
   * @param name of a file of `list`
   * @param save whether what there is now is backed up before
   * @throws BusError `no_backup`, `bad_backup`, `disk_full`, `disk_failed`; nothing was changed then
   */
  restore(name: string, save: boolean): Promise<Restored> {
    return this.#inTurn(async () => {
      const { registry, authority, files, keys, logger } = this.#parts;
      let backup;
      try {
        if (!this.list().some((file) => file.name === name)) {
          throw new BusError('no_backup', `There is no backup '${name}' in backup/db`);
        }
        backup = readRegistryBackup(await files.read(name));
      } catch (error) {
        if (!(error instanceof RegistryBackupError)) throw error;
        throw new BusError('bad_backup', `The backup '${name}' cannot be used: ${error.message}`, { cause: error });
      }
      const saved = save ? (await this.#write(true)).name : undefined;
      const counts = await restoreRegistry(registry, backup, await keys(), authority);
      this.#counters.restored += 1;
      logger.info(`Restored the backup '${name}': ${String(counts.agents)} agents, ${String(counts.groups)} groups.`);
      return { ...counts, made: backup.made, saved };
    });
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    await this.#working;
  }

  async #write(preRestore: boolean): Promise<BackupFile> {
    const { registry, files, now } = this.#parts;
    const time = new Date(now());
    try {
      const file = await files.write(writeRegistryBackup(registry, time), time, preRestore);
      this.#counters.made += 1;
      return file;
    } catch (error) {
      this.#counters.failed += 1;
      throw new BusError('disk_failed', `The backup cannot be written: ${describeError(error)}`, { cause: error });
    }
  }

  #prune(): void {
    const gone = this.#parts.files.prune(this.#parts.settings().max_files);
    for (const name of gone) this.#parts.logger.debug(`Backup of agents removed: ${name}`);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => {});
    return done;
  }
}
