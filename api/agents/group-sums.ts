import { lstatSync, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MERGED_FILE } from '../../lib/agentlink/merged-file.js';
import { type MergedPlace, mergedSumFrom, sumOnDisk } from '../../lib/groups/merged-file-of.js';
import type { Home } from '../../lib/home/home.js';

/** Sums of a group's files; one is absent when its file is (agents-and-groups.md 10.3). */
export type FileSums = { readonly mergedSum?: string; readonly configSum?: string };

/** Sums that are remembered: both files of 20,000 groups, and as many multigroups. */
const MAX_REMEMBERED = 80_000;
/** Groups looked at before other requests get their turn. */
const GROUPS_A_TURN = 200;

type KnownSum = { readonly stamp: string; readonly sum: Promise<string | undefined> };

/** Sums of the files that groups share, worked out again when a file changed. */
export class GroupSums {
  readonly #known = new Map<string, KnownSum>();

  constructor(private readonly home: Home) {}

  /** @param algorithm as the API names it (rest-api.md 6.3) */
  async of(group: string, algorithm = 'md5'): Promise<FileSums> {
    const [mergedSum, configSum] = await Promise.all([
      this.#sum({ directory: 'etc/shared', name: `${group}/${MERGED_FILE}` }, algorithm),
      this.#sum({ directory: 'etc/shared', name: `${group}/agent.conf` }, algorithm),
    ]);
    return { ...(mergedSum === undefined ? {} : { mergedSum }), ...(configSum === undefined ? {} : { configSum }) };
  }

  /** Items with the sums of the groups that they name. */
  async addTo<T extends { readonly name: string }>(items: readonly T[], algorithm = 'md5'): Promise<(T & FileSums)[]> {
    const result: (T & FileSums)[] = [];
    for (let at = 0; at < items.length; at += GROUPS_A_TURN) {
      if (at > 0) await nextTurn();
      const part = items.slice(at, at + GROUPS_A_TURN);
      const sums = await Promise.all(part.map(({ name }) => this.of(name, algorithm)));
      part.forEach((item, index) => result.push({ ...item, ...sums[index] }));
    }
    return result;
  }

  /** MD5 of the merged file that agents with these groups get, in the order of priority (6.1). */
  merged(groups: readonly string[]): Promise<string | undefined> {
    return mergedSumFrom(groups, (place) => this.#sum(place, 'md5'));
  }

  async #sum(place: MergedPlace, algorithm: string): Promise<string | undefined> {
    const { directory, name } = place;
    // Synchronous on purpose: a thousand calls take some milliseconds, and a tenth of the promises' time.
    const stats = statsOf(this.home.path(directory, name));
    if (stats === undefined) return undefined;
    const key = `${algorithm} ${directory}/${name}`;
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
    const known = this.#known.get(key);
    if (known?.stamp === stamp) return known.sum;
    // One that cannot be read by this user has no sum to show.
    const sum = sumOnDisk(this.home, place, algorithm).catch(() => undefined);
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(key, { stamp, sum });
    return sum;
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
