import type { BlobStore } from '../../../daemons/clusterd/files/blob-store.js';
import { BusError } from '../../../lib/bus/bus-error.js';

/** Contents in memory, of all nodes of a test. */
export class MemoryBlobs {
  readonly contents = new Map<string, Buffer>();

  /** As one node sees it. @param isAway whether it cannot reach them now */
  of(isAway: () => boolean): BlobStore {
    const { contents } = this;
    const reach = (): void => {
      if (isAway()) throw new BusError('cluster_unavailable', 'no NATS');
    };
    const step = async <T>(work: () => T): Promise<T> => {
      reach();
      await new Promise((resolve) => setImmediate(resolve));
      reach();
      return work();
    };
    return {
      has: (name) => step(() => contents.has(name)),
      put: (name, content) =>
        step(() => {
          contents.set(name, content);
        }),
      get: (name) => step(() => contents.get(name)),
      list: () => step(() => [...contents.keys()]),
      remove: (name) =>
        step(() => {
          contents.delete(name);
        }),
    };
  }
}
