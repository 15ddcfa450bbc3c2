import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { FolderWatch } from '../../../lib/files/folder-watch.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { MAX_WATCHED_FOLDERS } from './shared-limits.js';
import { isNeverShared } from './shared-names.js';

export type WatchEvents = {
  /** Something happened in etc/shared itself. */
  readonly rootChanged: () => void;
  /** Something happened, or may have happened, in the folder of a group. */
  readonly groupChanged: (group: string) => void;
};

type Watched = { readonly watch: FolderWatch | undefined; readonly identity: string; readonly folders: number };

const PERIODIC = 'changes in them are found by the periodic check (remoted.shared_reload) only';

/** Watches the folders of all groups, as far as there are not too many; the periodic check does the rest. */
export class FolderWatches {
  readonly #groups = new Map<string, Watched>();
  #root: FolderWatch | undefined;
  #rootIdentity: string | undefined;
  #folders = 0;
  #isOff = true;
  #saidTooMany = false;

  constructor(
    private readonly rootPath: string,
    private readonly logger: Logger,
    private readonly events: WatchEvents,
  ) {}

  /** Folders of groups that are watched. */
  get size(): number {
    return this.#isOff ? 0 : Math.min(this.#folders, MAX_WATCHED_FOLDERS);
  }

  /** Begins with etc/shared; nothing is watched before. */
  start(): void {
    this.#isOff = false;
    this.#watchRoot();
  }

  /** Watches etc/shared anew when another folder has taken its place. @param identity tells the one from the other */
  updateRoot(identity: string): void {
    const before = this.#rootIdentity;
    this.#rootIdentity = identity;
    if (this.#isOff || before === undefined || before === identity) return;
    this.#root?.close();
    this.#watchRoot();
  }

  #watchRoot(): void {
    this.#root = new FolderWatch(this.rootPath, false, {
      changed: () => {
        this.events.rootChanged();
      },
      failed: (error) => {
        this.#fail(error);
      },
    });
    void this.#root.ready.then(() => {
      this.events.rootChanged();
    });
  }

  /**
   * Watches the folder of a group as it is now; does nothing when it is watched already.
   * @param folders of the group, by path; the value changes when another folder has taken the place of one
   */
  update(group: string, path: string, folders: ReadonlyMap<string, string>): void {
    if (this.#isOff || folders.size === 0) return;
    const identity = JSON.stringify([...folders]);
    if (this.#groups.get(group)?.identity === identity) return;
    this.remove(group);
    this.#folders += folders.size;
    const isTooMany = this.#folders > MAX_WATCHED_FOLDERS;
    if (isTooMany && !this.#saidTooMany) {
      this.#saidTooMany = true;
      this.logger.info(`Only ${String(MAX_WATCHED_FOLDERS)} folders of groups are watched: ${PERIODIC}.`);
    }
    if (isTooMany) {
      this.#groups.set(group, { watch: undefined, identity, folders: folders.size });
      return;
    }
    const changed = (): void => {
      this.events.groupChanged(group);
    };
    const watch = new FolderWatch(path, true, {
      changed: (_folder, name) => {
        // Temporary names come and go while files are written; the name a file gets in the end is told of, too.
        if (name !== null && isNeverShared(name) && name !== MERGED_FILE) return;
        changed();
      },
      failed: (error) => {
        this.#fail(error);
      },
    });
    this.#groups.set(group, { watch, identity, folders: folders.size });
    void watch.ready.then(() => {
      if (this.#groups.get(group)?.watch === watch) changed();
    });
  }

  remove(group: string): void {
    const watched = this.#groups.get(group);
    if (watched === undefined) return;
    this.#groups.delete(group);
    this.#folders -= watched.folders;
    watched.watch?.close();
  }

  stop(): void {
    this.#isOff = true;
    this.#root?.close();
    for (const { watch } of this.#groups.values()) watch?.close();
    this.#groups.clear();
  }

  /** The system has no more watches to give, for example. */
  #fail(error: unknown): void {
    if (this.#isOff) return;
    const { code } = error as NodeJS.ErrnoException;
    // A folder that went away while it was about to be watched.
    if (code === 'ENOENT') return;
    this.stop();
    this.logger.warn(`Folders of groups are not watched until the next start: ${describeError(error)}; ${PERIODIC}.`);
  }
}
