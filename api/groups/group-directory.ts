import { BusError } from '../../lib/bus/bus-error.js';
import type { GroupFolders } from '../../lib/groups/group-folders.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { ProblemError } from '../http/problem-error.js';
import { withGroup } from './group-failure.js';

const DEFAULT_GROUP = 'default';

export type GroupItem = { readonly name: string; readonly count: number };

/**
 * Groups for one request: their folders and what svc-db knows. svc-remoted tells svc-db of folders that come and go, a
 * little later; nobody who has just made a folder should be told that there is no such group.
 */
export class GroupDirectory {
  constructor(
    private readonly db: DbClient,
    readonly folders: GroupFolders,
  ) {}

  /** All groups with the number of their agents, by name. */
  async list(request: ApiRequest): Promise<GroupItem[]> {
    const [{ groups }, names] = await Promise.all([this.db.call(request, 'groups.list', {}), this.folders.list()]);
    const counts = new Map(groups.map(({ name, count }) => [name, count]));
    for (const name of names) if (!counts.has(name)) counts.set(name, 0);
    return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Makes sure that svc-db knows the group. @throws ApiError 1710 */
  async require(request: ApiRequest, group: string): Promise<void> {
    try {
      await this.db.call(request, 'groups.get', { name: group });
    } catch (error) {
      const unknown = error instanceof ApiError && error.code === 1710;
      if (!unknown || !(await this.folders.exists(group))) throw error;
      await this.#register(request, group);
    }
  }

  /** Those of the names that are no groups. */
  async unknown(request: ApiRequest, names: readonly string[]): Promise<string[]> {
    const { unknown } = await this.db.call(request, 'groups.list', { names: [...names] });
    const missing: string[] = [];
    for (const name of unknown) {
      if (await this.folders.exists(name)) await this.#register(request, name);
      else missing.push(name);
    }
    return missing;
  }

  /**
   * Makes the folder, then lets svc-db know. When svc-db does not take it the folder goes again: who was told that it
   * failed may try again.
   * @throws ApiError 1711, 1713, 1722; 1017 when svc-db does not run
   */
  async create(request: ApiRequest, group: string): Promise<void> {
    if (group === DEFAULT_GROUP) throw new ApiError(1711, { extra: group });
    await withGroup(group, () => this.folders.create(group));
    try {
      await this.#register(request, group);
    } catch (error) {
      // Where it cannot be removed either, svc-remoted tells svc-db of it later.
      await this.folders.remove(group).catch(() => {});
      throw error;
    }
  }

  /**
   * Removes the folder; svc-db is told of all by {@link forget}.
   * @returns why it was not removed: 1710, 1712
   */
  async removeFolder(group: string, known: ReadonlySet<string>): Promise<ApiError | undefined> {
    try {
      await withGroup(group, () => this.folders.remove(group));
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Its folder went before; only svc-db does not know yet.
      return error.code === 1710 && known.has(group) ? undefined : error;
    }
  }

  /** Takes the agents out of groups whose folders are gone. */
  async forget(request: ApiRequest, groups: readonly string[]): Promise<void> {
    if (groups.length > 0) await this.db.call(request, 'groups.remove', { names: [...groups] });
  }

  async #register(request: ApiRequest, name: string): Promise<void> {
    try {
      await this.db.call(request, 'groups.create', { name });
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      // svc-remoted saw the folder first.
      if (error.code === 'group_exists') return;
      throw error.code === 'too_many_groups' ? ProblemError.badRequest(error.message) : error;
    }
  }
}
