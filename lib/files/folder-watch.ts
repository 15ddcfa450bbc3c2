import { type FSWatcher, watch } from 'chokidar';

/** Told of changes in a folder, and of a watch that failed. */
export type WatchListener = {
  readonly changed: (folder: string, name: string) => void;
  readonly failed: (error: unknown) => void;
};

/**
 * Watches a folder, and where asked for those in it. One handle of the system is used for each folder and none for files:
 * the folder's tells of changes in them.
 */
export class FolderWatch {
  /** Resolves when changes are seen; what happened before may have been missed. */
  readonly ready: Promise<void>;
  readonly #watcher: FSWatcher;
  #closed = false;

  /** @param deep whether folders below are watched, too */
  constructor(path: string, deep: boolean, listener: WatchListener) {
    this.#watcher = watch(path, {
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (entry, stats) => entry !== path && stats !== undefined && !(deep && stats.isDirectory()),
    });
    this.ready = new Promise((resolve) => this.#watcher.once('ready', resolve));
    this.#watcher.on('raw', (_event, name, details: unknown) => {
      if (this.#closed) return;
      const { watchedPath } = details as { watchedPath?: unknown };
      listener.changed(typeof watchedPath === 'string' ? watchedPath : path, name);
    });
    this.#watcher.on('error', (error) => {
      if (!this.#closed) listener.failed(error);
    });
  }

  /** Ends the watch at once. */
  close(): void {
    this.#closed = true;
    void this.#watcher.close().catch(() => {});
  }
}
