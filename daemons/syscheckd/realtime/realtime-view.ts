import type { FileSystems } from '../../../lib/fim/scan/file-systems.js';
import type { IgnoreList } from '../../../lib/fim/scan/path-list.js';
import type { WatchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';

/** What is watched now, as the next scan will have it. */
export type WatchedNow = {
  readonly directories: WatchedDirectories;
  readonly ignore: IgnoreList;
  readonly fileSystems: FileSystems;
};

/**
 * Configured paths whose changes are noticed at once, and what has to be watched above them: every directory that leads
 * to one, for its next name alone, so that a path that is made, moved in or exchanged later is noticed too.
 */
export class RealtimeView implements WatchedNow {
  readonly directories: WatchedDirectories;
  readonly ignore: IgnoreList;
  readonly fileSystems: FileSystems;
  readonly roots: ReadonlyMap<string, WatchedDirectory>;
  /** Names to watch for by their directory, those above before those below. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly #sorted: readonly string[];
  readonly #links: ReadonlySet<string>;

  constructor({ directories, ignore, fileSystems }: WatchedNow) {
    this.directories = directories;
    this.ignore = ignore;
    this.fileSystems = fileSystems;
    this.roots = new Map([...directories].filter(isRealtime).map((root) => [root.path, root]));
    this.#sorted = [...this.roots.keys()];
    this.#links = new Set([...directories].map(({ link }) => link).filter((link) => link !== undefined));
    const names = new Map<string, Set<string>>();
    for (const path of [...this.#sorted, ...this.#links]) {
      let above = '';
      for (const name of path.split('/').slice(1)) {
        if (name === '') break;
        const known = names.get(above === '' ? '/' : above);
        if (known === undefined) names.set(above === '' ? '/' : above, new Set([name]));
        else known.add(name);
        above += `/${name}`;
      }
    }
    this.names = new Map(
      [...names].sort(([first], [second]) => first.length - second.length).map(([above, all]) => [above, [...all]]),
    );
  }

  /** The configured path that decides about a path, when its changes are to be noticed at once. */
  rootOf(path: string): WatchedDirectory | undefined {
    const directory = this.directories.decides(path);
    return directory !== undefined && isRealtime(directory) ? directory : undefined;
  }

  /** Configured paths of real time below a path. */
  rootsBelow(path: string): string[] {
    const prefix = path === '/' ? path : `${path}/`;
    let low = 0;
    for (let high = this.#sorted.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? '') <= prefix) low = middle + 1;
      else high = middle;
    }
    const below: string[] = [];
    for (const root of this.#sorted.slice(low)) {
      if (!root.startsWith(prefix)) break;
      below.push(root);
    }
    return below;
  }

  /** Whether a path is a configured link that is followed, or leads to one. */
  leadsToLink(path: string): boolean {
    if (this.#links.has(path)) return true;
    for (const link of this.#links) if (link.startsWith(`${path}/`)) return true;
    return false;
  }
}

/** Who-data is not to be had: it is noticed at once all the same. */
function isRealtime({ mode }: WatchedDirectory): boolean {
  return mode !== 'scheduled';
}
