import { StorageType } from '@nats-io/jetstream';
import { type ObjectStore, Objm } from '@nats-io/obj';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { type Seal, SealError } from '../nats/sealing.js';
import type { BlobStore } from './blob-store.js';

/** Contents of all sets: what a stolen login puts there does not take the disk of the servers away from records. */
const MAX_STREAM_BYTES = 4 * 1024 ** 3;
/** One content, or a list of all: what takes longer lost a message on its way, milliseconds. */
const DEADLINE_MS = 60_000;

export type ObjectBlobsParts = {
  readonly link: Pick<NatsLink, 'session'>;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  /** Copies, each on a server of its own. */
  readonly replicas: number;
};

/** Contents in the object store of NATS, each sealed for its name. */
export class ObjectBlobs implements BlobStore {
  readonly #parts: ObjectBlobsParts;
  #opened: { readonly session: NatsSession; readonly store: Promise<ObjectStore> } | undefined;

  constructor(parts: ObjectBlobsParts) {
    this.#parts = parts;
  }

  has(name: string): Promise<boolean> {
    return this.#work(async (store) => {
      const info = await store.info(name);
      return info !== null && !info.deleted;
    });
  }

  put(name: string, content: Buffer): Promise<void> {
    const sealed = this.#parts.seal.seal(content, placeOf(name));
    return this.#work(async (store) => {
      await store.putBlob({ name }, sealed);
    });
  }

  async get(name: string): Promise<Buffer | undefined> {
    const sealed = await this.#work((store) => store.getBlob(name));
    return sealed === null ? undefined : this.#parts.seal.open(sealed, placeOf(name));
  }

  list(): Promise<readonly string[]> {
    return this.#work(async (store) => (await store.list()).filter(({ deleted }) => !deleted).map(({ name }) => name));
  }

  remove(name: string): Promise<void> {
    return this.#work(async (store) => {
      await store.delete(name);
    });
  }

  async #work<T>(work: (store: ObjectStore) => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`no answer within ${String(DEADLINE_MS / 1000)} s`));
      }, DEADLINE_MS);
    });
    try {
      return await Promise.race([this.#store().then(work), late]);
    } catch (error) {
      if (error instanceof BusError || error instanceof SealError) throw error;
      throw new BusError('cluster_unavailable', `Files of the cluster cannot be reached: ${describeError(error)}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #store(): Promise<ObjectStore> {
    const { link, subjects, replicas } = this.#parts;
    const session = link.session();
    if (this.#opened?.session !== session) {
      const store = new Objm(session.js).create(subjects.files.bucket, {
        storage: StorageType.File,
        max_bytes: MAX_STREAM_BYTES,
        replicas,
      });
      this.#opened = { session, store };
    }
    try {
      return await this.#opened.store;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }
}

function placeOf(name: string): string {
  return `files ${name}`;
}
