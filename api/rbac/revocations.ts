import type { Change } from '../../lib/store/commit-queue.js';
import type { StoreTable } from '../../lib/store/store-table.js';
import type { Revocation, RevocationKey } from './rbac-model.js';
import type { PendingChange } from './rbac-table.js';

/** Among the revocations: how many there were, of which some are gone with what they were about. It concerns no token. */
const COUNT_KEY = 'count';

/** What was revoked, in memory and in its table; the changes of the table are written by who asks for them. */
export class Revocations {
  readonly #stored: StoreTable<string, Revocation>;
  readonly #entries = new Map<string, Revocation>();
  #revision = 0;

  constructor(stored: StoreTable<string, Revocation>) {
    this.#stored = stored;
  }

  /** Revocations so far. */
  get revision(): number {
    return this.#revision;
  }

  /** Revisions by `RevocationKey`. */
  get all(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#entries].filter(([key]) => key !== COUNT_KEY).map(([key, { revision }]) => [key, revision]),
    );
  }

  /** Tokens of a lower revision are revoked by the key; 0 when none is. */
  of(key: RevocationKey): number {
    return this.#entries.get(key)?.revision ?? 0;
  }

  load(): void {
    for (const [key, revocation] of this.#stored.entries()) {
      this.#entries.set(key, revocation);
      this.#revision = Math.max(this.#revision, revocation.revision);
    }
  }

  /** The revision only goes up: a token that was issued meanwhile may carry it. */
  revoke(keys: readonly RevocationKey[]): PendingChange[] {
    if (keys.length === 0) return [];
    this.#revision += 1;
    const entry: Revocation = { revision: this.#revision };
    return keys.map((key) => {
      const before = this.#entries.get(key);
      this.#entries.set(key, entry);
      return {
        change: this.#stored.put(key, entry),
        undo: () => (before === undefined ? this.#entries.delete(key) : this.#entries.set(key, before)),
      };
    });
  }

  /** All go: another one stands for them. */
  supersede(): PendingChange[] {
    return [...this.#entries].map(([key, before]) => {
      this.#entries.delete(key);
      return { change: this.#stored.remove(key), undo: () => this.#entries.set(key, before) };
    });
  }

  /** These and no others: what is not among them is undefined. */
  instead(revocations: ReadonlyMap<string, number | undefined>): ReadonlyMap<string, number | undefined> {
    const known = [...[...this.#stored.entries()].map(([key]) => key), ...this.#entries.keys()];
    return new Map([...known.map((key) => [key, undefined] as const), ...revocations]);
  }

  /**
   * Takes over what a cluster has; the revision is the cluster's, be it lower than what this manager had before it joined.
   * @param count how many the cluster has had; undefined when that is not new
   */
  follow(revocations: ReadonlyMap<string, number | undefined>, count: number | undefined): Change[] {
    const news = [...revocations, ...(count === undefined ? [] : [[COUNT_KEY, count] as const])];
    const changes = news.map(([key, revision]) => {
      if (revision === undefined) {
        this.#entries.delete(key);
        return this.#stored.remove(key);
      }
      this.#entries.set(key, { revision });
      return this.#stored.put(key, { revision });
    });
    this.#revision = Math.max(0, ...[...this.#entries.values()].map(({ revision }) => revision));
    return changes;
  }
}
