import { BusError } from '../../../lib/bus/bus-error.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

/** Groups made at once; svc-db writes those that arrive together in one transaction. */
const MOST_AT_ONCE = 64;
/** Daemons start together: svc-db may not answer the first attempts. */
const QUIET_FAILURES = 5;
const DEFAULT_GROUP = 'default';

/**
 * Keeps the table of groups the same as the folders of etc/shared (agents-and-groups.md 6.2). A group that loses its entry
 * loses its members, so one is removed only when it was in the table before the folders were listed, and nobody has made or
 * used it since: whoever makes a group makes the folder first.
 */
export class GroupTable {
  readonly #trouble: LimitedLogger;
  #failures = 0;

  /** @param folders lists the groups that have a folder; throws when that cannot be told */
  constructor(
    private readonly db: Pick<RequestClient<typeof dbContract>, 'call'>,
    private readonly logger: Logger,
    private readonly folders: () => readonly string[],
  ) {
    this.#trouble = logger.limited();
  }

  /** @returns whether the table is right now; when not, the reason is in the log and it is to be called again */
  async sync(): Promise<boolean> {
    try {
      const { groups, mark } = await this.db.call('groups.list', {});
      const known = new Set(groups.map(({ name }) => name));
      const there = new Set(this.folders());
      const gone = [...known].filter((name) => !there.has(name) && name !== DEFAULT_GROUP);
      const fresh = [...there].filter((name) => !known.has(name));
      for (let at = 0; at < fresh.length; at += MOST_AT_ONCE) {
        await Promise.all(fresh.slice(at, at + MOST_AT_ONCE).map((name) => this.#create(name)));
      }
      const areGone = gone.length === 0 || (await this.#remove(gone, mark));
      this.#failures = 0;
      return areGone;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures > QUIET_FAILURES) {
        this.#trouble.warn(`The table of groups is not the same as the folders of etc/shared: ${describeError(error)}`);
      }
      return false;
    }
  }

  /** @returns whether all of them went */
  async #remove(gone: string[], mark: string): Promise<boolean> {
    const { removed, kept, agents } = await this.db.call('groups.remove', { names: gone, unusedSince: mark });
    const members = agents.length === 0 ? '' : ` ${String(agents.length)} agents were in them.`;
    if (removed.length > 0) {
      this.logger.info(`Groups whose folders are gone were removed: ${named(removed)}.${members}`);
    }
    return kept.length === 0;
  }

  async #create(name: string): Promise<void> {
    try {
      await this.db.call('groups.create', { name });
    } catch (error) {
      // Whoever made the folder was faster.
      if (!(error instanceof BusError && error.code === 'group_exists')) throw error;
    }
  }
}

const SHOWN = 10;

function named(groups: readonly string[]): string {
  const shown = groups.slice(0, SHOWN).map((name) => `'${name}'`);
  return groups.length > SHOWN ? `${shown.join(', ')} and ${String(groups.length - SHOWN)} more` : shown.join(', ');
}
