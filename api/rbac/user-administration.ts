import { type PasswordHasher, passwordSetter } from '../auth/password-hasher.js';
import { checkPassword } from '../auth/password-policy.js';
import { ApiError } from '../http/api-error.js';
import type { FailedItem } from '../http/envelope.js';
import { type ChangedObjects, nothingChanged, sortOut, withLinks, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { User } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';
import { MAX_BUILT_IN_ID } from './rbac-table.js';

/** What is done to users (rest-api.md 6.9). Each change ends the tokens of the user that it is about (2.4). */
export class UserAdministration {
  readonly #store: RbacStore;
  readonly #hasher: Pick<PasswordHasher, 'hash'>;

  constructor(store: RbacStore, hasher: Pick<PasswordHasher, 'hash'>) {
    this.#store = store;
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
    // Somebody may have been faster while the hash was made.
    this.#refuseName(name);
    refuseMore('users', users);
    const user: User = { id: users.nextId(), name, allowRunAs: false, passwordHash, roles: [] };
    await this.#store.commit([users.put(user)]);
    return user;
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
    const user = this.#required(id);
    // Somebody else may have got the id while the hash was made.
    if (user.name !== name) throw new ApiError(5001);
    return this.#replace({ ...user, passwordHash });
  }

  /** @throws ApiError 5001 */
  async setRunAs(id: number, allowRunAs: boolean): Promise<User> {
    return this.#replace({ ...this.#required(id), allowRunAs });
  }

  /** Failures: 5001, 5004 built-in, 5008 the own account. @param by id of the user who asks */
  async remove(ids: readonly number[], by: number): Promise<ChangedObjects<User>> {
    const { users } = this.#store;
    const { good, failed } = sortOut(ids, (id) => {
      if (users.get(id) === undefined) return 5001;
      if (id <= MAX_BUILT_IN_ID) return 5004;
      return id === by ? 5008 : undefined;
    });
    const changed = users.some(good);
    await this.#store.commit(
      changed.map((user) => users.remove(user)),
      good.map((id) => `user:${id}` as const),
    );
    return { changed, failed };
  }

  /**
   * Gives roles to a user. Failures: 5001 and 4008 with the id of the user, 4002, 4017.
   * @param position place of the first one in the user's list, from 0; its end by default
   */
  async link(id: number, roles: readonly number[], position?: number): Promise<ChangedObjects<User>> {
    const user = this.#store.users.get(id);
    if (user === undefined) return nothingChanged(id, 5001);
    if (id <= MAX_BUILT_IN_ID) return nothingChanged(id, 4008);
    const { good, failed } = sortOut(
      roles,
      (role) => this.#roleFault(role) ?? (user.roles.includes(role) ? 4017 : undefined),
    );
    return this.#withRoles(user, good.length > 0 ? withLinks(user.roles, good, position) : undefined, failed);
  }

  /** Takes roles from a user. Failures: 4008 with the id of the user, 4002, 4016. @throws ApiError 5001, 404 */
  async unlink(id: number, roles: readonly number[]): Promise<ChangedObjects<User>> {
    const user = this.#store.users.get(id);
    if (user === undefined) throw new ApiError(5001, { status: 404 });
    if (id <= MAX_BUILT_IN_ID) return nothingChanged(id, 4008);
    const { good, failed } = sortOut(
      roles,
      (role) => this.#roleFault(role) ?? (user.roles.includes(role) ? undefined : 4016),
    );
    return this.#withRoles(user, good.length > 0 ? withoutLinks(user.roles, good) : undefined, failed);
  }

  async #withRoles(
    user: User,
    roles: number[] | undefined,
    failed: readonly FailedItem[],
  ): Promise<ChangedObjects<User>> {
    if (roles === undefined) return { changed: [], failed };
    return { changed: [await this.#replace({ ...user, roles })], failed };
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

  async #replace(user: User): Promise<User> {
    await this.#store.commit([this.#store.users.put(user)], [`user:${user.id}`]);
    return user;
  }
}
