import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import { z } from 'zod';
import { checkLmdbFile } from '../../lib/store/check-lmdb-file.js';
import { DEFAULT_POLICIES, DEFAULT_ROLES, DEFAULT_SECURITY_RULES } from './default-objects.js';
import {
  policySchema,
  revocationSchema,
  roleSchema,
  securityRuleSchema,
  userSchema,
  type Policy,
  type PolicyBody,
  type Revocation,
  type Role,
  type SecurityRule,
  type User,
} from './rbac-model.js';

/** Layout of the store; a newer program moves older ones forward at open (design.md 4 "State"). */
const SCHEMA_VERSION = 1;

/** What a token was revoked by: a user, a role, or all tokens that were issued with a context. */
export type RevocationKey = `user:${number}` | `role:${number}` | 'run_as';

/** The store cannot be used: damaged, or written by a newer version. */
export class RbacStoreError extends Error {
  override readonly name = 'RbacStoreError';
  readonly code = 2012;
}

/** One step from version `index + 1` to the next. None is needed yet. */
const MIGRATIONS: readonly ((tables: Tables) => void)[] = [];

type Tables = {
  readonly meta: Database<number, string>;
  readonly users: Database<User, number>;
  readonly roles: Database<Role, number>;
  readonly policies: Database<Policy, number>;
  readonly rules: Database<SecurityRule, number>;
  readonly revocations: Database<Revocation, string>;
};

/** Initial hash of each built-in user's password; asked for only when the store is made. */
export type InitialUsers = () => Promise<readonly User[]>;

/**
 * Users, roles, policies, security rules and revocations: an LMDB environment that only this process opens, held in
 * memory whole (a few thousand objects at most), so that a request reads no disk.
 */
export class RbacStore {
  readonly #root: RootDatabase;
  readonly #tables: Tables;
  readonly #users = new Map<number, User>();
  readonly #usersByName = new Map<string, User>();
  readonly #roles = new Map<number, Role>();
  readonly #policies = new Map<number, Policy>();
  readonly #rules = new Map<number, SecurityRule>();
  readonly #revocations = new Map<string, Revocation>();

  private constructor(root: RootDatabase, tables: Tables) {
    this.#root = root;
    this.#tables = tables;
  }

  /**
   * Opens the store, and fills a new one with the built-in objects in one transaction.
   * @param directory `{home}/api/configuration/security/rbac`
   * @throws RbacStoreError when it is damaged or too new
   */
  static async open(directory: string, initialUsers: InitialUsers): Promise<RbacStore> {
    mkdirSync(dirname(directory), { recursive: true });
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    const damage = checkLmdbFile(join(directory, 'data.mdb'));
    if (damage !== undefined) throw damaged(directory, damage);
    let root: RootDatabase;
    try {
      root = open({ path: directory, noMemInit: false, maxDbs: 12 });
    } catch (error) {
      throw damaged(directory, error);
    }
    try {
      for (const file of ['data.mdb', 'lock.mdb']) chmodSync(join(directory, file), 0o640);
      const tables: Tables = {
        meta: root.openDB({ name: 'meta' }),
        users: root.openDB({ name: 'users' }),
        roles: root.openDB({ name: 'roles' }),
        policies: root.openDB({ name: 'policies' }),
        rules: root.openDB({ name: 'rules' }),
        revocations: root.openDB({ name: 'revocations' }),
      };
      const version = tables.meta.get('schema');
      if (version === undefined) await initialise(root, tables, await initialUsers());
      else await migrate(root, tables, version);
      const store = new RbacStore(root, tables);
      store.#load();
      return store;
    } catch (error) {
      await root.close();
      throw error instanceof RbacStoreError ? error : damaged(directory, error);
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

  /** Whether a token issued at `nbf` (epoch seconds) is revoked by one of the keys (rest-api.md 2.4). */
  isRevoked(keys: readonly RevocationKey[], nbf: number): boolean {
    return keys.some((key) => (this.#revocations.get(key)?.nbfInvalidUntil ?? -1) >= nbf);
  }

  /**
   * Refuses every token issued up to now that the keys concern; resolves when it is on disk. Entries older than a token
   * lifetime go away, since no token of their time can be valid any more.
   * @param now epoch seconds
   */
  async revoke(keys: readonly RevocationKey[], now: number, tokenLifetimeSeconds: number): Promise<void> {
    const entry: Revocation = { nbfInvalidUntil: now, expiresAt: now + tokenLifetimeSeconds };
    const expired = [...this.#revocations].filter(([, { expiresAt }]) => expiresAt < now).map(([key]) => key);
    for (const key of expired) this.#revocations.delete(key);
    for (const key of keys) this.#revocations.set(key, entry);
    await this.#root.transaction(() => {
      for (const key of expired) void this.#tables.revocations.remove(key);
      for (const key of keys) void this.#tables.revocations.put(key, entry);
    });
    await this.#root.flushed;
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #load(): void {
    for (const user of rows(this.#tables.users, userSchema)) {
      this.#users.set(user.id, user);
      this.#usersByName.set(user.name, user);
    }
    for (const role of rows(this.#tables.roles, roleSchema)) this.#roles.set(role.id, role);
    for (const policy of rows(this.#tables.policies, policySchema)) this.#policies.set(policy.id, policy);
    for (const rule of rows(this.#tables.rules, securityRuleSchema)) this.#rules.set(rule.id, rule);
    for (const { key, value } of this.#tables.revocations.getRange()) {
      this.#revocations.set(key, revocationSchema.parse(value));
    }
  }
}

async function initialise(root: RootDatabase, tables: Tables, users: readonly User[]): Promise<void> {
  await root.transaction(() => {
    for (const policy of DEFAULT_POLICIES) void tables.policies.put(policy.id, policy);
    for (const rule of DEFAULT_SECURITY_RULES) void tables.rules.put(rule.id, rule);
    for (const role of DEFAULT_ROLES) void tables.roles.put(role.id, role);
    for (const user of users) void tables.users.put(user.id, user);
    void tables.meta.put('schema', SCHEMA_VERSION);
  });
  await root.flushed;
}

async function migrate(root: RootDatabase, tables: Tables, version: number): Promise<void> {
  if (version === SCHEMA_VERSION) return;
  if (version > SCHEMA_VERSION) {
    throw new RbacStoreError(
      `2012 - The RBAC database has version ${String(version)}, this program knows ${String(SCHEMA_VERSION)}: it was written by a newer version`,
    );
  }
  await root.transaction(() => {
    for (const step of MIGRATIONS.slice(version - 1)) step(tables);
    void tables.meta.put('schema', SCHEMA_VERSION);
  });
  await root.flushed;
}

function* rows<T>(table: Database<T, number>, schema: z.ZodType<T>): Generator<T> {
  for (const { value } of table.getRange()) yield schema.parse(value);
}

function damaged(directory: string, cause: unknown): RbacStoreError {
  const reason = cause instanceof z.ZodError ? 'an entry is not what it should be' : String(cause);
  return new RbacStoreError(`2012 - Error while attempting to check RBAC database integrity: ${directory}: ${reason}`, {
    cause,
  });
}
