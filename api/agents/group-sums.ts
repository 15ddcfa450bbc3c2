import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Home } from '../../lib/daemon/home.js';

/** Sums of a group's files; one is absent when its file is (agents-and-groups.md 10.3). */
export type FileSums = { readonly mergedSum?: string; readonly configSum?: string };

/** Sums that are remembered: files of 10,000 groups and their merged ones. */
const MAX_REMEMBERED = 20_000;

/** MD5 of the files that groups share, worked out again when a file changed. */
export class GroupSums {
  readonly #known = new Map<string, { readonly stamp: string; readonly sum: string }>();

  constructor(private readonly home: Home) {}

  async of(group: string): Promise<FileSums> {
    const [mergedSum, configSum] = await Promise.all([this.#sum(group, 'merged.mg'), this.#sum(group, 'agent.conf')]);
    return { ...(mergedSum === undefined ? {} : { mergedSum }), ...(configSum === undefined ? {} : { configSum }) };
  }

  async #sum(group: string, file: string): Promise<string | undefined> {
    const path = this.home.path('etc', 'shared', group, file);
    try {
      const stats = await stat(path);
      const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
      const known = this.#known.get(path);
      if (known?.stamp === stamp) return known.sum;
      const sum = createHash('md5')
        .update(await readFile(path))
        .digest('hex');
      if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
      this.#known.set(path, { stamp, sum });
      return sum;
    } catch {
      // Not there, or not to be read by this user: there is no sum to show.
      return undefined;
    }
  }
}
