import { SYSTEM_CALLS } from '../../../lib/fim/scan/file-calls.js';
import { serveThread } from '../../../lib/thread/serve-thread.js';
import { ChangeMaker } from './change-maker.js';
import { CopyStore } from './copy-store.js';
import type { DiffThread } from './diff-protocol.js';

/*
 * The thread that copies, packs and compares files: one at a time, so that what it holds in memory is bounded, and all
 * that can wait for a disk happens here.
 */
serveThread<DiffThread>(({ home }, tell) => {
  const store = new CopyStore(home);
  const maker = new ChangeMaker(store, SYSTEM_CALLS, (notice) => void tell(notice));
  // What waited for these copies is gone: a process that was killed, or a thread that broke.
  maker.dropWaiting();
  let names: Generator<readonly string[]> | undefined;
  return {
    prepare: ({ change, rules }) => maker.prepare(change, rules),
    settle: (token) => maker.finish(token, true),
    discard: (token) => maker.finish(token, false),
    measure: () => maker.measure(),
    removePaths: (paths) => maker.removePaths(paths),
    removeNames: (unknown) => maker.removeNames(unknown),
    names({ first }) {
      if (first) names = store.names();
      return names === undefined ? undefined : maker.next(names);
    },
  };
});
