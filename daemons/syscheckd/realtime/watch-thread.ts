import { parentPort, workerData } from 'node:worker_threads';
import type { WatchNews, WatchOrder, WatchThreadData } from './thread-watcher.js';
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
const { overflowAt } = workerData as WatchThreadData;
const port = parentPort;

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
  setTimeout(tell, GATHERED_MS);
}

function tell(): void {
  armed = false;
  const news: WatchNews = { paths: [...changed], overflowed, watches: tree.watches };
  changed.clear();
  overflowed = false;
  untaken = true;
  port?.postMessage(news);
}

port?.on('message', (order: WatchOrder) => {
  switch (order.kind) {
    case 'watch': {
      const outcome = order.names === undefined ? tree.watch(order.path) : tree.watchNames(order.path, order.names);
      const news: WatchNews = { id: order.id, outcome, watches: tree.watches };
      port.postMessage(news);
      break;
    }
    case 'unwatch': {
      const ended = order.paths.filter((path) => tree.unwatch(path));
      const news: WatchNews = { id: order.id, ended, watches: tree.watches };
      port.postMessage(news);
      break;
    }
    case 'taken':
      untaken = false;
      if (changed.size > 0 || overflowed) arm();
  }
});
