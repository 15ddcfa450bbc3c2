import { type GivenNumbers, MAX_BUILT_IN_ID, securitySettingsRecord } from '../../lib/cluster/access-records.js';
import type { Change } from '../../lib/store/commit-queue.js';
import { LmdbStore } from '../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../lib/store/store-table.js';
import type { ObjectChange, ObjectKind } from './access-decisions.js';
import { DEFAULT_POLICIES, DEFAULT_ROLES, DEFAULT_SECURITY_RULES } from './default-objects.js';
import { laterPolicies, roleNow } from './later-built-in.js';
import {
  type Policy,
  type PolicyBody,
  policySchema,
  type RevocationKey,
  revocationSchema,
  type Role,
  roleSchema,
  type SecurityRule,
  securityRuleSchema,
  type User,
  userSchema,
} from './rbac-model.js';
import { unusable } from './rbac-store-error.js';
import { type PendingChange, type RbacObject, RbacTable } from './rbac-table.js';
import { Revocations } from './revocations.js';
import type { SecurityBackup, SecurityObjects } from './security-backup.js';

/** What others have decided. */
export type FollowedChange = {
  readonly objects: readonly ObjectChange[];
  /** Revisions by `RevocationKey`; undefined is one that is gone. */
  readonly revocations: ReadonlyMap<string, number | undefined>;
  readonly numbers?: GivenNumbers;
};

/** The built-in users; asked for only when the store is made. What it throws ends the start, and nothing is made. */
export type InitialUsers = () => Promise<readonly User[]>;

const TABLES = ['users', 'roles', 'policies', 'rules', 'revocations', 'restored'] as const;
/** Version 2 has a digest of all entries: a policy that is lost may be one that denies. */
const MIGRATIONS = [() => {}];
/** Key of what a restore leaves to be done. */
const RESTORED_SETTINGS = 'settings';

/**
 * Users, roles, policies, security rules and revocations: an LMDB environment that only this process opens, held in
 * memory whole (a few thousand objects at most), so that a request reads no disk.
 */
export class RbacStore {
  readonly users: RbacTable<User>;
  readonly roles: RbacTable<Role>;
  readonly policies: RbacTable<Policy>;
  readonly rules: RbacTable<SecurityRule>;
  readonly #store: LmdbStore;
  readonly #restored: StoreTable<string, SecurityBackup['settings']>;
  readonly #revocations: Revocations;
  #version = 0;
  #changed: () => void = () => {};
  #numbers: GivenNumbers = {
    users: MAX_BUILT_IN_ID,
    roles: MAX_BUILT_IN_ID,
    policies: MAX_BUILT_IN_ID,
    rules: MAX_BUILT_IN_ID,
    revision: 0,
  };

  private constructor(store: LmdbStore) {
    this.#store = store;
    this.users = new RbacTable(store.table('users', userSchema));
    this.roles = new RbacTable(store.table('roles', roleSchema));
    this.policies = new RbacTable(store.table('policies', policySchema));
    this.rules = new RbacTable(store.table('rules', securityRuleSchema));
    this.#revocations = new Revocations(store.table('revocations', revocationSchema));
    this.#restored = store.table('restored', securitySettingsRecord);
  }

  /**
   * Opens the store, and fills a new one with the built-in objects in one transaction.
   * @param directory `{home}/api/configuration/security/rbac`
   * @throws RbacStoreError when it is damaged or too new
   */
  static async open(directory: string, initialUsers: InitialUsers): Promise<RbacStore> {
    let store: LmdbStore;
    try {
      store = await LmdbStore.open({ directory, tables: TABLES, migrations: MIGRATIONS, checked: true });
    } catch (error) {
      throw unusable(error);
    }
    try {
      const result = new RbacStore(store);
      result.#load();
      // Built-in users cannot be deleted: a store without any is new.
      if (result.users.size === 0) await result.#initialise(await initialUsers());
      else await result.#bringForward();
      return result;
    } catch (error) {
      await store.close();
      throw unusable(error);
    }
  }

  /** Changes with each change of an object: what was computed from objects holds for as long as this stays. */
  get version(): number {
    return this.#version;
  }

  /** Policies of roles in their order, each role's policies in theirs; ids that lead nowhere are skipped. */
  policiesOf(roles: readonly number[]): PolicyBody[] {
    return roles.flatMap((role) =>
      (this.roles.get(role)?.policies ?? []).flatMap((id) => this.policies.get(id)?.policy ?? []),
    );
  }

  /** Revocations so far; a token issued now carries it. */
  get revision(): number {
    return this.#revocations.revision;
  }

  /** Whether a token issued at a revision is revoked by one of the keys (rest-api.md 2.4). */
  isRevoked(keys: readonly RevocationKey[], revision: number): boolean {
    return keys.some((key) => this.#revocations.of(key) > revision);
  }

  /** Makes changes in memory, which {@link commit} is to write in the same turn. */
  pending(changes: readonly ObjectChange[]): PendingChange[] {
    return changes.map(({ kind, id, object }) => {
      // Object and table are of the same kind.
      const table: RbacTable<never> = this[kind] as never;
      return object === undefined ? table.removeId(id) : table.put(object as never);
    });
  }

  /**
   * Writes changes that were made to the tables, and refuses every token issued up to now that the keys concern, in one
   * transaction; resolves when it is on disk. It is to be called in the same turn as the changes were made: nobody sees a
   * new permission with an old revocation. Revocations stay: there is one a user or role at most, and the latest of them
   * keeps the revision.
   * @throws StoreError when it cannot be written; everything is as it was before then
   */
  async commit(pending: readonly PendingChange[], revoked: Iterable<RevocationKey> = []): Promise<void> {
    const all = [...pending, ...this.#revocations.revoke([...new Set(revoked)])];
    this.#version += 1;
    await this.#write(all);
    if (pending.length > 0) this.#changed();
  }

  /** @param changed called after each change of an object that is on the disk */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  /** All objects as they are on the disk, read in one transaction. @throws StoreError `damaged` */
  committed(): SecurityObjects {
    return {
      users: this.users.committed(),
      roles: this.roles.committed(),
      policies: this.policies.committed(),
      rules: this.rules.committed(),
    };
  }

  /**
   * Has these objects instead of all others, and refuses every token issued up to now, in one transaction; in memory at once,
   * on disk when it resolves. The settings are not in this store: they stay in {@link restoredSettings} until they are said to
   * be in force.
   * @param objects that were checked
   * @throws StoreError when it cannot be written; everything is as it was before then
   */
  async replace(objects: SecurityObjects, settings: SecurityBackup['settings']): Promise<void> {
    const exchange = <T extends RbacObject>(table: RbacTable<T>, wanted: readonly T[]): PendingChange[] => [
      // All names are free before one is given.
      ...table.all().map((object) => table.remove(object)),
      ...wanted.map((object) => table.put(object)),
    ];
    const all = [
      ...exchange(this.users, objects.users),
      ...exchange(this.roles, objects.roles),
      ...exchange(this.policies, objects.policies),
      ...exchange(this.rules, objects.rules),
      ...this.#revocations.supersede(),
      ...this.#revocations.revoke(['all']),
      { change: this.#restored.put(RESTORED_SETTINGS, settings), undo: () => {} },
    ];
    this.#version += 1;
    await this.#write(all);
    this.#changed();
  }

  /** Settings of a restore that are not known to be in force yet. */
  get restoredSettings(): SecurityBackup['settings'] | undefined {
    return this.#restored.get(RESTORED_SETTINGS);
  }

  /** The settings of a restore are in force. @throws StoreError */
  async forgetRestoredSettings(): Promise<void> {
    await this.#store.commit([this.#restored.remove(RESTORED_SETTINGS)]);
  }

  /** All objects as they are in memory. */
  objects(): SecurityObjects {
    const { users, roles, policies, rules } = this;
    return { users: users.all(), roles: roles.all(), policies: policies.all(), rules: rules.all() };
  }

  /** Revisions of what was revoked, by `RevocationKey`. */
  get revocations(): ReadonlyMap<string, number> {
    return this.#revocations.all;
  }

  /** Tokens of a lower revision are revoked by the key; 0 when none is. */
  revocationOf(key: RevocationKey): number {
    return this.#revocations.of(key);
  }

  /** What a cluster says that it has given; see {@link follow}. */
  get numbers(): GivenNumbers {
    return this.#numbers;
  }

  /**
   * Takes over what others have decided: in memory at once, where it stays when it cannot be written, and on the disk when it
   * resolves.
   * @throws StoreError when it cannot be written
   */
  follow({ objects, revocations, numbers }: FollowedChange): Promise<void> {
    return this.#follow(this.pending(objects), revocations, numbers, objects.length > 0);
  }

  /** As {@link follow}, of everything: what is not told is gone. */
  followAll({ objects, revocations, numbers }: FollowedChange): Promise<void> {
    const exchange = (kind: ObjectKind): PendingChange[] => {
      const wanted = objects.flatMap((change) =>
        change.kind === kind && change.object !== undefined ? [change.object] : [],
      );
      // Objects and table are of the same kind.
      return this[kind].exchange(new Map(wanted.map((object) => [object.id, object as never])));
    };
    const all = this.#revocations.instead(revocations);
    const changes = [...exchange('users'), ...exchange('roles'), ...exchange('policies'), ...exchange('rules')];
    return this.#follow(changes, all, numbers, changes.length > 0);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async #follow(
    pending: readonly PendingChange[],
    revocations: FollowedChange['revocations'],
    numbers: GivenNumbers | undefined,
    isNew: boolean,
  ): Promise<void> {
    if (numbers !== undefined) {
      this.#numbers = numbers;
      for (const kind of ['users', 'roles', 'policies', 'rules'] as const) this[kind].given = numbers[kind];
    }
    const changes = [
      ...pending.map(({ change }) => change),
      ...this.#revocations.follow(revocations, numbers?.revision),
    ];
    this.#version += 1;
    await this.#store.commit(changes);
    if (isNew) this.#changed();
  }

  async #write(all: readonly PendingChange[]): Promise<void> {
    await this.#store.commit(
      all.map(({ change }) => change),
      () => {
        this.#version += 1;
        for (const { undo } of all.toReversed()) undo();
      },
    );
  }

  #load(): void {
    for (const table of [this.users, this.roles, this.policies, this.rules]) table.load();
    this.#revocations.load();
  }

  /** What is built in since the store was made. */
  async #bringForward(): Promise<void> {
    const changes = [
      ...laterPolicies(this.policies.all()).map((policy) => this.policies.put(policy)),
      ...this.roles.all().flatMap((role) => (roleNow(role) === role ? [] : [this.roles.put(roleNow(role))])),
    ].map(({ change }) => change);
    if (changes.length > 0) await this.#store.commit(changes);
  }

  async #initialise(users: readonly User[]): Promise<void> {
    const changes: Change[] = [
      ...DEFAULT_POLICIES.map((policy) => this.policies.put(policy)),
      ...DEFAULT_SECURITY_RULES.map((rule) => this.rules.put(rule)),
      ...DEFAULT_ROLES.map((role) => this.roles.put(role)),
      ...users.map((user) => this.users.put(user)),
    ].map(({ change }) => change);
    await this.#store.commit(changes);
  }
}
