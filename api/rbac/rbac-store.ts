import { LmdbStore } from '../../lib/store/lmdb-store.js';
import { StoreError } from '../../lib/store/store-error.js';
import type { StoreTable } from '../../lib/store/store-table.js';
import { DEFAULT_POLICIES, DEFAULT_ROLES, DEFAULT_SECURITY_RULES } from './default-objects.js';
import {
  type Policy,
  type PolicyBody,
  policySchema,
  type Revocation,
  revocationSchema,
  type Role,
  roleSchema,
  type SecurityRule,
  securityRuleSchema,
  type User,
  userSchema,
} from './rbac-model.js';

/** What a token was revoked by: a user, a role, or all tokens that were issued with a context. */
export type RevocationKey = `user:${number}` | `role:${number}` | 'run_as';

/** The store cannot be used: damaged, or written by a newer version. */
class RbacStoreError extends Error {
  override readonly name = 'RbacStoreError';
  readonly code = 2012;
}

type RbacTables = {
  readonly users: StoreTable<number, User>;
  readonly roles: StoreTable<number, Role>;
  readonly policies: StoreTable<number, Policy>;
  readonly rules: StoreTable<number, SecurityRule>;
  readonly revocations: StoreTable<string, Revocation>;
};

/** Initial hash of each built-in user's password; asked for only when the store is made. */
export type InitialUsers = () => Promise<readonly User[]>;

/**
 * Users, roles, policies, security rules and revocations: an LMDB environment that only this process opens, held in
 * memory whole (a few thousand objects at most), so that a request reads no disk.
 */
export class RbacStore {
  readonly #store: LmdbStore;
  readonly #tables: RbacTables;
  readonly #users = new Map<number, User>();
  readonly #usersByName = new Map<string, User>();
  readonly #roles = new Map<number, Role>();
  readonly #policies = new Map<number, Policy>();
  readonly #rules = new Map<number, SecurityRule>();
  readonly #revocations = new Map<string, Revocation>();
  #revision = 0;

  private constructor(store: LmdbStore, tables: RbacTables) {
    this.#store = store;
    this.#tables = tables;
  }

  /**
   * Opens the store, and fills a new one with the built-in objects in one transaction.
   * @param directory `{home}/api/configuration/security/rbac`
   * @throws RbacStoreError when it is damaged or too new
   */
  static async open(directory: string, initialUsers: InitialUsers): Promise<RbacStore> {
    let store: LmdbStore;
    try {
      store = await LmdbStore.open({ directory, tables: ['users', 'roles', 'policies', 'rules', 'revocations'] });
    } catch (error) {
      throw unusable(error);
    }
    try {
      const tables: RbacTables = {
        users: store.table('users', userSchema),
        roles: store.table('roles', roleSchema),
        policies: store.table('policies', policySchema),
        rules: store.table('rules', securityRuleSchema),
        revocations: store.table('revocations', revocationSchema),
      };
      const result = new RbacStore(store, tables);
      result.#load();
      // Built-in users cannot be deleted: a store without any is new.
      if (result.#users.size === 0) {
        await initialise(store, tables, await initialUsers());
        result.#load();
      }
      return result;
    } catch (error) {
      await store.close();
      throw unusable(error);
    }
  }

  user(id: number): User | undefined {
    return this.#users.get(id);
  }

  userByName(name: string): User | undefined {
    return this.#usersByName.get(name);
  }

  role(id: number): Role | undefined {
    return this.#roles.get(id);
  }

  policy(id: number): Policy | undefined {
    return this.#policies.get(id);
  }

  securityRule(id: number): SecurityRule | undefined {
    return this.#rules.get(id);
  }

  /** Policies of roles in their order, each role's policies in theirs; ids that lead nowhere are skipped. */
  policiesOf(roles: readonly number[]): PolicyBody[] {
    return roles.flatMap((role) =>
      (this.#roles.get(role)?.policies ?? []).flatMap((id) => this.#policies.get(id)?.policy ?? []),
    );
  }

  /** Revocations so far; a token issued now carries it. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether a token issued at a revision is revoked by one of the keys (rest-api.md 2.4). */
  isRevoked(keys: readonly RevocationKey[], revision: number): boolean {
    return keys.some((key) => (this.#revocations.get(key)?.revision ?? 0) > revision);
  }

  /**
   * Refuses every token issued up to now that the keys concern; resolves when it is on disk. Entries stay: there is one a
   * user or role at most, and the latest of them keeps the revision.
   */
  async revoke(keys: readonly RevocationKey[]): Promise<void> {
    this.#revision += 1;
    const entry: Revocation = { revision: this.#revision };
    for (const key of keys) this.#revocations.set(key, entry);
    await this.#store.commit(keys.map((key) => this.#tables.revocations.put(key, entry)));
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  #load(): void {
    for (const [id, user] of this.#tables.users.entries()) {
      this.#users.set(id, user);
      this.#usersByName.set(user.name, user);
    }
    for (const [id, role] of this.#tables.roles.entries()) this.#roles.set(id, role);
    for (const [id, policy] of this.#tables.policies.entries()) this.#policies.set(id, policy);
    for (const [id, rule] of this.#tables.rules.entries()) this.#rules.set(id, rule);
    for (const [key, revocation] of this.#tables.revocations.entries()) {
      this.#revocations.set(key, revocation);
      this.#revision = Math.max(this.#revision, revocation.revision);
    }
  }
}

async function initialise(store: LmdbStore, tables: RbacTables, users: readonly User[]): Promise<void> {
  await store.commit([
    ...DEFAULT_POLICIES.map((policy) => tables.policies.put(policy.id, policy)),
    ...DEFAULT_SECURITY_RULES.map((rule) => tables.rules.put(rule.id, rule)),
    ...DEFAULT_ROLES.map((role) => tables.roles.put(role.id, role)),
    ...users.map((user) => tables.users.put(user.id, user)),
  ]);
}

/** What is no fault of the store itself keeps its own error. */
function unusable(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const text =
    error.code === 'damaged' ? 'Error while attempting to check RBAC database integrity' : 'Error in the RBAC database';
  return new RbacStoreError(`2012 - ${text}: ${error.message}`, { cause: error });
}
