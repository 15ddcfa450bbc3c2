import { join } from 'node:path';
import { EventSender } from '../../../daemons/syscheckd/record/event-sender.js';
import { Recorder } from '../../../daemons/syscheckd/record/recorder.js';
import { FileStore } from '../../../daemons/syscheckd/store/file-store.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import { watchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import { RecordingLogger } from '../recording-logger.js';

/*
 * `recorder-child.js DIRECTORY`: records files that come, change and go, without end, and sends what is to be told of
 * them to `events.sock` in the directory. It goes on with the rows that are there.
 */
const [, , directory = ''] = process.argv;
const FILES = 200;
const MOST_AT_ONCE = 40;

const logger = new RecordingLogger();
const store = await FileStore.open(join(directory, 'db'), logger);
const producer = new EventProducer({ path: join(directory, 'events.sock'), daemon: 'child', logger });
const failed = (error: unknown): never => {
  throw error;
};
const sender = new EventSender({ outbox: store.outbox, producer, maxEps: () => 0, logger, failed });
const directories = await watchedDirectories(
  [{ path: '/srv', options: [] }],
  { recursionLevel: 256, diffSizeLimit: 1 },
  {},
);
const recorder = new Recorder({
  store,
  directories: () => directories,
  names: () => ({ user: () => 'root', group: () => 'root' }),
  limit: () => 0,
  logger,
  now: Date.now,
});
producer.start();
sender.start();

const md5 = '6f5902ac237024bdd0c176cb93063dc4';
const [watched] = [...directories];
if (watched === undefined) throw new Error('nothing is watched');

const pick = (below: number): number => Math.floor(Math.random() * below);
for (;;) {
  const paths = new Set(Array.from({ length: 1 + pick(MOST_AT_ONCE) }, () => `/srv/file${pick(FILES)}`));
  const ticket = recorder.ticket();
  if (pick(3) === 0) {
    const rows = [...paths].flatMap((path) => recorder.row(path) ?? []);
    await recorder.remove(rows, { mode: 'realtime', ticket, silent: false });
  } else {
    const found = [...paths].map((path): ScannedEntry => ({
      path,
      directory: watched,
      kind: 'file',
      size: pick(1000),
      mode: 0o100644,
      uid: 0,
      gid: 0,
      mtime: pick(2_000_000_000),
      inode: String(pick(1_000_000)),
      dev: '1',
      hashes: { md5, sha1: md5.slice(8).padEnd(40, '0'), sha256: md5.padEnd(64, '0') },
      stamp: undefined,
      unchanged: false,
      unsettled: false,
    }));
    await recorder.record(found, { mode: 'realtime', ticket, silent: () => false });
  }
  await new Promise(setImmediate);
}
