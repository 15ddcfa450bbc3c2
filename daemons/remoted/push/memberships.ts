import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { MEMBERSHIPS_POLL_MS, RETRY_MS } from './push-limits.js';
import type { MembershipChanges, MembershipMark } from './read-memberships.js';

export type MembershipsParts = {
  /** Asks svc-db what has changed since a state; without one, for everything. */
  readonly read: (since: MembershipMark | undefined) => Promise<MembershipChanges>;
  /** Told of the lists of several groups that agents have, at first and whenever there are others. */
  readonly onLists: (lists: readonly (readonly string[])[]) => void;
  /** svc-db was restarted: what it was told may have to be told again. */
  readonly onRestart: () => void;
  readonly logger: Logger;
  /** Waits; resolves early when the daemon stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** A list of groups, one object for all agents that have it. */
type GroupList = { readonly groups: readonly string[]; agents: number };

/**
 * Whose groups are which, as svc-db has it: a copy in memory, so that a keepalive is compared without asking. While svc-db
 * is away what is known stays in force.
 */
export class Memberships {
  readonly #parts: MembershipsParts;
  readonly #failureLog: LimitedLogger;
  #lists = new Map<string, GroupList>();
  #byAgent = new Map<string, GroupList>();
  #mark: MembershipMark | undefined;
  #failing = false;
  #stopped = false;

  constructor(parts: MembershipsParts) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
  }

  /** Groups of an agent by priority. @param id as svc-db has it @returns undefined when they are not known */
  groupsOf(id: string): readonly string[] | undefined {
    return this.#byAgent.get(id)?.groups;
  }

  /** Follows svc-db until `stop`. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const followed = await this.#follow();
      await this.#parts.sleep(followed ? MEMBERSHIPS_POLL_MS : RETRY_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #follow(): Promise<boolean> {
    const { read, logger, onRestart } = this.#parts;
    let changes: MembershipChanges;
    try {
      changes = await read(this.#mark);
    } catch (error) {
      // Whoever stops is not interested any more.
      if (!this.#stopped) {
        this.#failing = true;
        this.#failureLog.error(`Groups of agents cannot be read, those known stay in force: ${describeError(error)}`);
      }
      return false;
    }
    if (this.#failing) logger.info('Groups of agents are read from svc-db again.');
    this.#failing = false;
    const restarted = this.#mark !== undefined && this.#mark.epoch !== changes.mark.epoch;
    this.#take(changes);
    if (restarted) onRestart();
    return true;
  }

  #take({ mark, full, agents }: MembershipChanges): void {
    const first = this.#mark === undefined;
    this.#mark = mark;
    if (!full && agents.length === 0 && !first) return;
    const before = this.#severalKeys();
    if (full) {
      this.#lists = new Map();
      this.#byAgent = new Map();
    }
    for (const { id, groups } of agents) this.#put(id, groups);
    const after = this.#severalKeys();
    if (!first && after.length === before.length && after.every((key, index) => key === before[index])) return;
    this.#parts.onLists(after.map((key) => this.#lists.get(key)?.groups ?? []));
  }

  #put(id: string, groups: readonly string[]): void {
    const old = this.#byAgent.get(id);
    const key = groups.join(',');
    if (old !== undefined) {
      old.agents -= 1;
      if (old.agents === 0) this.#lists.delete(old.groups.join(','));
    }
    if (groups.length === 0) {
      this.#byAgent.delete(id);
      return;
    }
    let list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, (list = { groups: [...groups], agents: 0 }));
    list.agents += 1;
    this.#byAgent.set(id, list);
  }

  /** Lists of several groups, in the order of their names. */
  #severalKeys(): string[] {
    return [...this.#lists]
      .filter(([, { groups }]) => groups.length > 1)
      .map(([key]) => key)
      .sort();
  }
}
