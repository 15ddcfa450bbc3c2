import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import { type PasswordHasher, passwordSetter } from '../auth/password-hasher.js';
import { checkPassword } from '../auth/password-policy.js';
import { ApiError } from '../http/api-error.js';
import { type AccessDecision, type AccessDecisions, putObject, removeObject } from './access-decisions.js';
import { type ChangedObjects, nothingChanged, Removal, sortOut, withLinks, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { User } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';

/** What is done to users (rest-api.md 6.9). Each change ends the tokens of the user that it is about (2.4). */
export class UserAdministration {
  readonly #store: RbacStore;
  readonly #decisions: AccessDecisions;
  readonly #hasher: Pick<PasswordHasher, 'hash'>;

  constructor(store: RbacStore, decisions: AccessDecisions, hasher: Pick<PasswordHasher, 'hash'>) {
    this.#store = store;
    this.#decisions = decisions;
    this.#hasher = hasher;
  }

  /**
   * @param by id of the user who asks
   * @param signal aborted when nobody waits for it any more; nobody is made then
   * @throws ApiError 5000 when the name is taken; 5007, 5009 for a password that is too weak; ProblemError 503 when too many
   * passwords wait
   */
  async create(name: string, password: string, by: number, signal: AbortSignal): Promise<User> {
    const { users } = this.#store;
    checkPassword(password);
    this.#refuseName(name);
    refuseMore('users', users);
    const passwordHash = await this.#hasher.hash(password, passwordSetter(by, signal));
    return this.#decisions.change(() => {
      // Somebody may have been faster while the hash was made.
      this.#refuseName(name);
      refuseMore('users', users);
      const user: User = { id: users.nextId(), name, allowRunAs: false, passwordHash, roles: [] };
      // One of the name that was removed may have tokens: they are not the new one's.
      return changed(user);
    });
  }

  /**
   * @param by id of the user who asks
   * @param signal aborted when nobody waits for it any more; the password stays then
   * @throws ApiError 5011 when an own user changes a built-in one, 5001, and as {@link create} for the password
   */
  async setPassword(id: number, password: string, by: number, signal: AbortSignal): Promise<User> {
    if (id <= MAX_BUILT_IN_ID && by > MAX_BUILT_IN_ID) throw new ApiError(5011);
    checkPassword(password);
    const { name } = this.#required(id);
    const passwordHash = await this.#hasher.hash(password, passwordSetter(by, signal));
    return this.#decisions.change(() => {
      const user = this.#required(id);
      // Somebody else may have got the id while the hash was made.
      if (user.name !== name) throw new ApiError(5001);
      return changed({ ...user, passwordHash });
    });
  }

  /** @throws ApiError 5001 */
  async setRunAs(id: number, allowRunAs: boolean): Promise<User> {
    return this.#decisions.change(() => changed({ ...this.#required(id), allowRunAs }));
  }

  /** Failures: 5001, 5004 built-in, 5008 the own account. @param by id of the user who asks */
  async remove(ids: readonly number[], by: number): Promise<ChangedObjects<User>> {
    const removal = new Removal(this.#store.users);
    return this.#decisions.change(() => {
      const { good, failed } = sortOut(ids, (id) => {
        if (!removal.has(id)) return 5001;
        if (id <= MAX_BUILT_IN_ID) return 5004;
        return id === by ? 5008 : undefined;
      });
      return {
        changes: good.map((id) => removeObject('users', id)),
        revoked: good.map((id) => `user:${id}` as const),
        result: { changed: removal.of(good), failed },
      };
    });
  }

  /**
   * Gives roles to a user. Failures: 5001 and 4008 with the id of the user, 4002, 4017.
   * @param position place of the first one in the user's list, from 0; its end by default
   */
  async link(id: number, roles: readonly number[], position?: number): Promise<ChangedObjects<User>> {
    return this.#decisions.change(() => {
      const user = this.#store.users.get(id);
      if (user === undefined) return { result: nothingChanged(id, 5001) };
      if (id <= MAX_BUILT_IN_ID) return { result: nothingChanged(id, 4008) };
      const sorted = sortOut(roles, (role) => this.#roleFault(role) ?? (user.roles.includes(role) ? 4017 : undefined));
      return linked(sorted, { ...user, roles: withLinks(user.roles, sorted.good, position) });
    });
  }

  /** Takes roles from a user. Failures: 4008 with the id of the user, 4002, 4016. @throws ApiError 5001, 404 */
  async unlink(id: number, roles: readonly number[]): Promise<ChangedObjects<User>> {
    return this.#decisions.change(() => {
      const user = this.#store.users.get(id);
      if (user === undefined) throw new ApiError(5001, { status: 404 });
      if (id <= MAX_BUILT_IN_ID) return { result: nothingChanged(id, 4008) };
      const sorted = sortOut(roles, (role) => this.#roleFault(role) ?? (user.roles.includes(role) ? undefined : 4016));
      return linked(sorted, { ...user, roles: withoutLinks(user.roles, sorted.good) });
    });
  }

  #roleFault(role: number): 4002 | undefined {
    return this.#store.roles.get(role) === undefined ? 4002 : undefined;
  }

  #refuseName(name: string): void {
    if (this.#store.users.named(name) !== undefined) throw new ApiError(5000);
  }

  #required(id: number): User {
    const user = this.#store.users.get(id);
    if (user === undefined) throw new ApiError(5001);
    return user;
  }
}

/** A user as it is from now on, without the tokens it had. */
function changed(user: User): AccessDecision<User> {
  return { changes: [putObject('users', user)], revoked: [`user:${user.id}`], result: user };
}

/** A user with other roles, where there is one that can be given or taken away. */
function linked({ good, failed }: ReturnType<typeof sortOut>, user: User): AccessDecision<ChangedObjects<User>> {
  if (good.length === 0) return { result: { changed: [], failed } };
  return { ...changed(user), result: { changed: [user], failed } };
}
