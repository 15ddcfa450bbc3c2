import { serveThread } from '../../../lib/thread/serve-thread.js';
import type { WatchThread } from './thread-watcher.js';
import { WatchTree } from './watch-tree.js';

/** Milliseconds that paths are gathered: a file that is written is told of many times within them. */
const GATHERED_MS = 2;
/** Paths that are gathered at most while the daemon takes none. */
const MOST_GATHERED = 100_000;

/*
 * A thread that does nothing but read what the kernel tells of directories, so that its queue is empty again as soon as
 * can be. libuv leaves out the kernel's word that the queue was full; but it reads until there is nothing more within
 * one turn of the loop, so a turn with as many events as the queue holds is one before which it may have been full.
 */
serveThread<WatchThread>(({ overflowAt }, tell) => {
  const changed = new Set<string>();
  let inTurn = 0;
  let overflowed = false;
  let armed = false;
  /** News that the daemon has not taken: one at a time, and what comes meanwhile is gathered. */
  let untaken = false;

  const tree = new WatchTree({
    changed(path) {
      changed.add(path);
      if (changed.size > MOST_GATHERED) {
        overflowed = true;
        changed.clear();
      }
      arm();
    },
    counted(events) {
      if (inTurn === 0) setImmediate(endTurn);
      inTurn += events;
    },
  });

  function endTurn(): void {
    if (inTurn >= overflowAt) {
      overflowed = true;
      arm();
    }
    inTurn = 0;
  }

  function arm(): void {
    if (armed || untaken) return;
    armed = true;
    setTimeout(() => void tellChanged(), GATHERED_MS);
  }

  async function tellChanged(): Promise<void> {
    armed = false;
    const news = { paths: [...changed], overflowed, watches: tree.watches };
    changed.clear();
    overflowed = false;
    untaken = true;
    await tell(news);
    untaken = false;
    if (changed.size > 0 || overflowed) arm();
  }

  return {
    watch({ path, names }) {
      const outcome = names === undefined ? tree.watch(path) : tree.watchNames(path, names);
      return { outcome, watches: tree.watches };
    },
    unwatch(paths) {
      const ended = paths.filter((path) => tree.unwatch(path));
      return { ended, watches: tree.watches };
    },
  };
});
