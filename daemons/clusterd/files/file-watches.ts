import { relative, sep } from 'node:path';
import { RULESET_FOLDERS } from '../../../lib/cluster/ruleset-in-force.js';
import { FolderWatch } from '../../../lib/files/folder-watch.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { groupKey, isGroupFolder, isOwnName, RULESET, SHARED } from './set-place.js';

/** Watches the folders of all sets, so that changes are seen at once; the periodic look finds what is missed. */
export class FileWatches {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #changed: (key: string) => void;
  #watches: FolderWatch[] = [];

  /** @param changed told of the set in which something happened, or may have */
  constructor(home: Home, logger: Logger, changed: (key: string) => void) {
    this.#home = home;
    this.#logger = logger;
    this.#changed = changed;
  }

  start(): void {
    const shared = this.#home.path('etc', 'shared');
    this.#watch(shared, (folder, name) => {
      const group = relative(shared, folder).split(sep)[0] ?? '';
      if (group !== '') this.#changed(groupKey(group));
      else if (isGroupFolder(name)) this.#changed(groupKey(name));
      if (group === '') this.#changed(SHARED);
    });
    for (const folder of RULESET_FOLDERS) {
      this.#watch(this.#home.path('etc', folder), () => {
        this.#changed(RULESET);
      });
    }
  }

  stop(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
  }

  #watch(path: string, changed: (folder: string, name: string) => void): void {
    const watch = new FolderWatch(path, true, {
      changed: (folder, name) => {
        // Temporary names come and go; the name a file gets in the end is told of, too.
        if (typeof name === 'string' && isOwnName(name)) return;
        changed(folder, name);
      },
      failed: (error) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        watch.close();
        this.#logger.warn(
          `${path} is not watched: ${describeError(error)}; changes in it are found by the periodic look only.`,
        );
      },
    });
    this.#watches.push(watch);
  }
}
