import { BusError } from '../../lib/bus/bus-error.js';
import type { GroupFolders } from '../../lib/groups/group-folders.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { FailedItem } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { withGroup } from './group-failure.js';

const DEFAULT_GROUP = 'default';

export type GroupItem = { readonly name: string; readonly count: number };

export type RemovedGroups = { readonly removed: readonly string[]; readonly failed: readonly FailedItem[] };

/**
 * Groups for one request: their folders and what svc-db knows. svc-remoted tells svc-db of folders that come and go, a
 * little later; nobody who has just made a folder should be told that there is no such group.
 */
export class GroupDirectory {
  /**
   * @param isShared whether the groups are those of a cluster: svc-clusterd says there which folders are groups, since one may
   *   lie here a moment longer than its group is there
   */
  constructor(
    private readonly db: DbClient,
    readonly folders: GroupFolders,
    private readonly isShared: () => boolean,
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
      if (!unknown || this.isShared() || !(await this.folders.exists(group))) throw error;
      await this.#register(request, group);
    }
  }

  /** Those of the names that are no groups. */
  async unknown(request: ApiRequest, names: readonly string[]): Promise<string[]> {
    const { unknown } = await this.db.call(request, 'groups.list', { names: [...names] });
    const missing: string[] = [];
    for (const name of unknown) {
      if (!this.isShared() && (await this.folders.exists(name))) await this.#register(request, name);
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
   * Removes groups: folders, entries, and agents' memberships.
   * @param known groups there are
   * @returns those that were removed, and why others were not: 1710, 1712
   */
  async remove(request: ApiRequest, groups: readonly string[], known: ReadonlySet<string>): Promise<RemovedGroups> {
    return this.isShared() ? this.#removeShared(request, groups, known) : this.#removeOwn(request, groups, known);
  }

  /** Folders first: one that is there makes svc-remoted tell svc-db of its group. */
  async #removeOwn(request: ApiRequest, groups: readonly string[], known: ReadonlySet<string>): Promise<RemovedGroups> {
    const removed: string[] = [];
    const failed: FailedItem[] = [];
    try {
      for (const id of groups) {
        request.signal.throwIfAborted();
        const error = await this.#removeFolder(id, known);
        if (error === undefined) removed.push(id);
        else failed.push({ id, error });
      }
    } finally {
      if (removed.length > 0) await this.db.call(request, 'groups.remove', { names: [...removed] });
    }
    return { removed, failed };
  }

  /** The cluster first, which may not be able to: then the folders, which go at the other nodes, too, are still there. */
  async #removeShared(
    request: ApiRequest,
    groups: readonly string[],
    known: ReadonlySet<string>,
  ): Promise<RemovedGroups> {
    const failed: FailedItem[] = [];
    const removed: string[] = [];
    for (const id of groups) {
      if (id === DEFAULT_GROUP) failed.push({ id, error: new ApiError(1712) });
      else if (known.has(id)) removed.push(id);
      else failed.push({ id, error: new ApiError(1710) });
    }
    if (removed.length > 0) await this.db.call(request, 'groups.remove', { names: [...removed] });
    // What stays is taken away by svc-clusterd, as at the other nodes.
    for (const id of removed) await this.folders.remove(id).catch(() => {});
    return { removed, failed };
  }

  async #removeFolder(group: string, known: ReadonlySet<string>): Promise<ApiError | undefined> {
    try {
      await withGroup(group, () => this.folders.remove(group));
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Its folder went before; only svc-db does not know yet.
      return error.code === 1710 && known.has(group) ? undefined : error;
    }
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
