import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import type { Home } from '../../../lib/home/home.js';

/** Where versions are kept that the cluster did not take, below the home. */
const BACKUP = 'backup/cluster';

/** Keeps files of this node that gave way to those of the cluster: somebody has worked on them. */
export class KeptVersions {
  readonly #home: Home;
  readonly #now: () => Date;

  constructor(home: Home, now: () => Date = () => new Date()) {
    this.#home = home;
    this.#now = now;
  }

  /** A folder for the versions of one moment, relative to the home. */
  begin(): string {
    const stamp = this.#now().toISOString().slice(0, 19).replace('T', '_').replaceAll(':', '-');
    return `${BACKUP}/${stamp}-${randomBytes(2).toString('hex')}`;
  }

  /**
   * Keeps a file, on the disk when this resolves.
   * @param folder as `begin` gave it
   * @param path as it is named in the log, relative to the home
   * @throws the file system's error
   */
  async keep(folder: string, path: string, content: Buffer): Promise<void> {
    const target = this.#home.path(join(folder, path));
    await mkdir(dirname(target), { recursive: true, mode: 0o750 });
    await writeFileDurably(target, content, { mode: 0o640 });
  }
}
