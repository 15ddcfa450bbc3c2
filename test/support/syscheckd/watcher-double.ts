import type { Watcher, WatchOutcome } from '../../../daemons/syscheckd/realtime/watcher.js';

/** A watcher that tells what a test says, and runs out of watches when it says so. */
export class WatcherDouble implements Watcher {
  readonly watched = new Set<string>();
  /** What comes of the wish to watch a directory, where it is not granted. */
  readonly refused = new Map<string, WatchOutcome>();
  change: (paths: readonly string[]) => void = () => {};
  overflow: () => void = () => {};
  fail: (error: Error) => void = () => {};

  get watches(): number {
    return this.watched.size;
  }

  watch(directory: string): Promise<WatchOutcome> {
    const refused = this.refused.get(directory);
    if (refused !== undefined) return Promise.resolve(refused);
    const known = this.watched.has(directory);
    this.watched.add(directory);
    return Promise.resolve(known ? 'watching' : 'fresh');
  }

  watchNames(): Promise<WatchOutcome> {
    return Promise.resolve('fresh');
  }

  unwatch(directories: readonly string[]): Promise<string[]> {
    return Promise.resolve(
      directories.filter((directory) => {
        const ended = [...this.watched].filter((path) => path === directory || path.startsWith(`${directory}/`));
        for (const path of ended) this.watched.delete(path);
        return ended.length > 0;
      }),
    );
  }

  onChange(listener: (paths: readonly string[]) => void): void {
    this.change = listener;
  }

  onOverflow(listener: () => void): void {
    this.overflow = listener;
  }

  onFailure(listener: (error: Error) => void): void {
    this.fail = listener;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
