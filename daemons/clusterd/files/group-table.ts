import { BusError } from '../../../lib/bus/bus-error.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

const RETRY_MS = 2000;

export type GroupTableParts = {
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly logger: Logger;
  /** Groups whose files are in force in the cluster. */
  readonly groups: () => readonly string[];
};

/**
 * Tells svc-db of groups whose folders came or went on this node, once the cluster knows their files: without a cluster
 * svc-remoted does it. One node tells it of each, the one where it happened, and svc-db tells the others: a node where a folder
 * has not come yet must not take the group for removed, and its members with it.
 */
export class GroupTable {
  readonly #parts: GroupTableParts;
  readonly #log: LimitedLogger;
  /** What svc-db is to be told yet: whether there is such a group. */
  readonly #news = new Map<string, boolean>();
  #missing = new Set<string>();
  #telling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: GroupTableParts) {
    this.#parts = parts;
    this.#log = parts.logger.limited();
  }

  /** @param isThere whether the group has come, or is gone */
  tell(group: string, isThere: boolean): void {
    this.#news.set(group, isThere);
    this.#begin();
  }

  /**
   * Has groups made that svc-db did not know at the last call either: who was to tell it died. Nothing is ever removed so.
   * @throws BusError
   */
  async compare(): Promise<void> {
    const { db, groups } = this.#parts;
    const { groups: known } = await db.call('groups.list', {});
    const names = new Set(known.map(({ name }) => name));
    const missing = groups().filter((group) => !names.has(group));
    for (const group of missing) if (this.#missing.has(group)) this.tell(group, true);
    this.#missing = new Set(missing);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#telling;
  }

  #begin(): void {
    if (this.#stopped || this.#telling !== undefined) return;
    clearTimeout(this.#timer);
    this.#telling = this.#tellAll().finally(() => {
      this.#telling = undefined;
      if (this.#news.size > 0 && !this.#stopped) {
        this.#timer = setTimeout(() => {
          this.#begin();
        }, RETRY_MS);
      }
    });
  }

  async #tellAll(): Promise<void> {
    for (const [group, isThere] of [...this.#news]) {
      try {
        if (isThere) await this.#create(group);
        else await this.#parts.db.call('groups.remove', { names: [group] });
      } catch (error) {
        this.#log.warn(`svc-db was not told of the group '${group}' yet: ${describeError(error)}`);
        continue;
      }
      // It may have changed again meanwhile.
      if (this.#news.get(group) === isThere) this.#news.delete(group);
    }
  }

  async #create(name: string): Promise<void> {
    try {
      await this.#parts.db.call('groups.create', { name });
    } catch (error) {
      if (!(error instanceof BusError && error.code === 'group_exists')) throw error;
    }
  }
}
