import { createReadStream, createWriteStream, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { RegistryBackupError } from './registry-backup.js';

/** `global.db-backup-2026-11-20-23:59:58.gz`, with `-pre_restore` before its end for what there was before a restore. */
const NAME = /^global\.db-backup-(\d{4})-(\d\d)-(\d\d)-(\d\d):(\d\d):(\d\d)(?:-pre_restore)?\.gz$/;
const PRE_RESTORE = '-pre_restore';
/** Text of a backup: half a kilobyte an agent, so that a million have room. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;

export type BackupFile = { readonly name: string; readonly bytes: number; readonly made: Date };

/** The backups of a directory, `{home}/backup/db`, named as in the reference (daemons-and-config.md 9.3). */
export class BackupFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The oldest first. */
  list(): BackupFile[] {
    const found: BackupFile[] = [];
    for (const name of names(this.#directory)) {
      const made = madeAt(name);
      const stats = statSync(join(this.#directory, name), { throwIfNoEntry: false });
      if (made !== undefined && stats?.isFile() === true) found.push({ name, bytes: stats.size, made });
    }
    return found.sort((a, b) => a.made.getTime() - b.made.getTime() || (a.name < b.name ? -1 : 1));
  }

  /**
   * Writes one, compressed, and on the disk when this resolves.
   * @throws the file system's error; nothing is left then
   */
  async write(text: AsyncIterable<string>, now: Date, preRestore = false): Promise<BackupFile> {
    mkdirSync(this.#directory, { recursive: true, mode: 0o750 });
    const name = `global.db-backup-${stamp(now)}${preRestore ? PRE_RESTORE : ''}.gz`;
    const path = join(this.#directory, name);
    const temporary = `${path}.tmp`;
    try {
      await pipeline(Readable.from(text), createGzip(), createWriteStream(temporary, { mode: 0o640 }));
      const file = await open(temporary, 'r+');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return { name, bytes: statSync(path).size, made: now };
  }

  /** @throws RegistryBackupError for a name that is none of them, or what is no gzip; the file system's error */
  async read(name: string): Promise<string> {
    // The name is the caller's: only those that this class gives lead to a file.
    if (madeAt(name) === undefined) throw new RegistryBackupError(`'${name}' is no name of a backup`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      await pipeline(
        createReadStream(join(this.#directory, name)),
        createGunzip(),
        async (unpacked: AsyncIterable<Buffer>) => {
          for await (const chunk of unpacked) {
            bytes += chunk.length;
            if (bytes > MAX_TEXT_BYTES) throw new RegistryBackupError('it is larger than a backup');
            chunks.push(chunk);
          }
        },
      );
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
        throw new RegistryBackupError(`it is not whole: ${error.message}`, { cause: error });
      }
      throw error;
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Keeps the newest so many of those that were made by time. @returns names of those that went */
  prune(most: number): string[] {
    const gone = this.list()
      .map(({ name }) => name)
      .filter((name) => !name.includes(PRE_RESTORE))
      .slice(0, -most);
    for (const name of gone) rmSync(join(this.#directory, name), { force: true });
    return gone;
  }
}

function names(directory: string): string[] {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(directory) : [];
}

function stamp(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(time.getFullYear())}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}-${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** Local time. */
function madeAt(name: string): Date | undefined {
  const found = NAME.exec(name);
  if (found === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  return new Date(year, month - 1, day, hour, minute, second);
}
