import { parentPort, workerData } from 'node:worker_threads';
import { SYSTEM_CALLS } from '../../../lib/fim/scan/file-calls.js';
import { ChangeMaker } from './change-maker.js';
import { CopyStore } from './copy-store.js';
import type { DiffReply, DiffRequest, DiffResult, DiffThreadData } from './diff-protocol.js';

/*
 * The thread that copies, packs and compares files: one at a time, so that what it holds in memory is bounded, and all
 * that can wait for a disk happens here.
 */
const { home } = workerData as DiffThreadData;
const reply = (message: DiffReply): void => parentPort?.postMessage(message);
const store = new CopyStore(home);
const maker = new ChangeMaker(store, SYSTEM_CALLS, (notice) => {
  reply({ notice });
});
// What waited for these copies is gone: a process that was killed, or a thread that broke.
maker.dropWaiting();
let names: Generator<readonly string[]> | undefined;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', ({ id, request }: { readonly id: number; readonly request: DiffRequest }) => {
  last = last.then(async () => {
    reply({ id, result: await handle(request) });
  });
});

async function handle(request: DiffRequest): Promise<DiffResult> {
  switch (request.kind) {
    case 'prepare':
      return { prepared: await maker.prepare(request.change, request.rules) };
    case 'settle':
    case 'discard':
      maker.finish(request.token, request.kind === 'settle');
      return {};
    case 'measure':
      maker.measure();
      return {};
    case 'remove_paths':
      maker.removePaths(request.paths);
      return {};
    case 'remove_names':
      maker.removeNames(request.names);
      return {};
    case 'names':
      if (request.first) names = store.names();
      return { names: names === undefined ? undefined : maker.next(names) };
  }
}
