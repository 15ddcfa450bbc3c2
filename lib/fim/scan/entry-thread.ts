import { serveThread } from '../../thread/serve-thread.js';
import { EntryReader } from './entry-reader.js';
import type { EntryThread } from './entry-threads.js';
import { SYSTEM_CALLS } from './file-calls.js';

/*
 * A thread that looks at files: all that can wait for a disk or a server happens here, so that the loop of the daemon
 * goes on whatever a file system does.
 */
serveThread<EntryThread>(({ limits, stop }) => {
  const flag = new Int32Array(stop);
  const stopped = (): boolean => Atomics.load(flag, 0) !== 0;
  const reader = new EntryReader(limits, SYSTEM_CALLS, stopped);
  return {
    read: ({ paths, hashes, known }) =>
      paths.map((path, index) =>
        stopped() ? { kind: 'skipped', reason: 'stopped' } : reader.read(path, hashes, known?.[index]),
      ),
  };
});
