import type { Logger } from '../../../lib/log/logger.js';
import { openOrSetAside } from '../../../lib/store/set-aside.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { OutputStore } from './output-store.js';

export type SharedOutputStoreParts = {
  /** `queue/outputs` */
  readonly directory: string;
  readonly logger: Logger;
  /** Called when the disk does not take a commit any more. */
  readonly fatal: (error: StoreError) => void;
};

/** The store that outputs and reports share: opened when one of them needs it. */
export class SharedOutputStore {
  readonly #parts: SharedOutputStoreParts;
  #opened: Promise<OutputStore> | undefined;

  constructor(parts: SharedOutputStoreParts) {
    this.#parts = parts;
  }

  /** @throws StoreError: it is tried again when it is asked for again */
  get(): Promise<OutputStore> {
    return (this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    }));
  }

  /** Nobody may need it any more. */
  async close(): Promise<void> {
    const store = await this.#opened?.catch(() => undefined);
    await store?.close();
  }

  /** A damaged store is put aside: outputs then begin at the end of the stream, and reports with the next day. */
  async #open(): Promise<OutputStore> {
    const { directory, logger, fatal } = this.#parts;
    const { store, damage } = await openOrSetAside(() => OutputStore.open(directory), directory, Date.now());
    if (damage !== undefined) {
      const { error, aside } = damage;
      logger.error(
        `${error.message}: it was moved to '${aside}', and outputs begin with the alerts from now on. Alerts that waited are in logs/alerts.`,
      );
    }
    void store.broken.then(fatal);
    return store;
  }
}
