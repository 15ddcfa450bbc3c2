/** What came of the wish to be told of changes in a directory. */
export type WatchOutcome =
  /** From now on; what it holds has to be looked at. */
  | 'fresh'
  /** The same, and another directory of that path was watched before, or this one was moved since: what was there may be gone. */
  | 'exchanged'
  /** The very directory has been watched all the time since one of these. */
  | 'watching'
  /** The system gives no more watches, or no descriptor to make one (ENOSPC, EMFILE, ENFILE, ENOMEM). */
  | 'limit'
  /** There is no such directory: nothing, or something else. */
  | 'vanished'
  /** May not be read, or the file system has no watches. */
  | 'failed';

/**
 * Tells what changes in directories, one watch a directory. Paths are byte strings. What it tells is where to look: never
 * what happened there, and sometimes that something did where nothing has.
 */
export interface Watcher {
  /** Watches the entries of a directory (not of those below), never through a link in the last place of its path. */
  watch(directory: string): Promise<WatchOutcome>;
  /**
   * Watches a directory for the entries of these names alone, beside `watch`. They replace earlier names of the same
   * directory; none end it.
   */
  watchNames(directory: string, names: readonly string[]): Promise<WatchOutcome>;
  /**
   * Ends what `watch` began, for these directories and all below.
   * @returns those of them that were watched, or held one that was
   */
  unwatch(directories: readonly string[]): Promise<string[]>;
  /** Paths that may have changed, a directory that is watched itself among them; each once in a group. */
  onChange(listener: (paths: readonly string[]) => void): void;
  /** Changes were lost: everything that is watched has to be looked at. */
  onOverflow(listener: () => void): void;
  /** It broke, and tells nothing any more. */
  onFailure(listener: (error: Error) => void): void;
  /** Directories that have a watch. */
  readonly watches: number;
  close(): Promise<void>;
}
