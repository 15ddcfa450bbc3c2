import { agentListParameters } from '../agents/agent-parameters.js';
import { AgentView } from '../agents/agent-view.js';
import type { GroupSums } from '../agents/group-sums.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory, GroupItem } from '../groups/group-directory.js';
import { deniedGroup } from '../groups/group-failure.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type FailedItem, type ListMessages, listResult, messageResult } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import { pageOf, queryFailure } from '../lists/list-parameters.js';
import { runListQuery } from '../lists/run-list-query.js';
import { AGENT_MESSAGES } from './agents-routes.js';

const READ = 'group:read';
const DELETE = 'group:delete';
const DEFAULT_GROUP = 'default';
const SUM_FIELDS = ['mergedSum', 'configSum'];
const FIELDS = ['name', 'count', ...SUM_FIELDS];
const RULES = { defaultSort: 'name', sortFields: FIELDS, selectFields: FIELDS };

/** Refusals that nobody wants to hear of who asked for all groups (rest-api.md 6.3). */
const HIDDEN_ON_ALL = new Set<ErrorCode>([1710, 1712, 4000]);

const READ_MESSAGES: ListMessages = {
  all: 'All selected groups information was returned',
  some: 'Some groups information was not returned',
  none: 'No group information was returned',
};
const DELETE_MESSAGES: ListMessages = {
  all: 'All selected groups were deleted',
  some: 'Some groups were not deleted',
  none: 'No group was deleted',
};

export type GroupsRouteParts = {
  readonly groups: GroupDirectory;
  readonly db: DbClient;
  readonly sums: GroupSums;
};

/** Groups: list, creation, removal and members (rest-api.md 6.3). */
export function groupsRoutes({ groups, db, sums }: GroupsRouteParts): OperationHandlers {
  return {
    getGroups: async (request) => {
      const failed: FailedItem[] = [];
      const all = await groups.list(request);
      const known = new Map(all.map((group) => [group.name, group]));
      const wanted = request.parameters.groups_list;
      const chosen = chooseGroups(request, READ, wanted ?? [...known.keys()], wanted !== undefined, failed);
      const items: GroupItem[] = [];
      for (const id of chosen) {
        const group = known.get(id);
        if (group === undefined) failed.push({ id, error: new ApiError(1710) });
        else items.push(group);
      }
      return listResult({ ...(await groupPage(request, sums, items)), failed, messages: READ_MESSAGES });
    },

    postGroups: async (request) => {
      request.caller.permissions.require('group:create');
      const { group_id: group } = request.body;
      await groups.create(request, group);
      return messageResult(`Group '${group}' created.`);
    },

    deleteGroups: async (request) => {
      const listed = request.parameters.groups_list;
      const everything = listed.includes('all');
      const failed: FailedItem[] = [];
      const known = new Set((await groups.list(request)).map(({ name }) => name));
      const chosen = chooseGroups(request, DELETE, everything ? [...known] : listed, !everything, failed);
      const removed: string[] = [];
      try {
        for (const id of chosen) {
          request.signal.throwIfAborted();
          const error = await groups.removeFolder(id, known);
          if (error === undefined) removed.push(id);
          else failed.push({ id, error });
        }
      } finally {
        await groups.forget(request, removed);
      }
      const shown = everything ? failed.filter(({ error }) => !HIDDEN_ON_ALL.has(error.code)) : failed;
      return listResult({ items: removed.sort(), total: removed.length, failed: shown, messages: DELETE_MESSAGES });
    },

    getGroupsGroupIdAgents: async (request) => {
      const group = request.parameters.group_id;
      requireGroup(request, READ, group);
      await groups.require(request, group);
      const view = new AgentView(db, request, 'agent:read');
      const page = await view.list({ ...agentListParameters(request.parameters), group });
      return listResult({ ...page, messages: AGENT_MESSAGES });
    },
  };
}

/** @throws ApiError 4000 when the caller may not do this to the group */
export function requireGroup({ caller }: ApiRequest, action: string, group: string): void {
  if (!caller.permissions.allowed(action, 'group:id', [group]).has(group)) throw deniedGroup();
}

/**
 * Those of the groups that the caller may do this to (rest-api.md 5.2).
 * @param named whether the client named them: the others fail then, and are left out silently otherwise
 * @throws ApiError 4000 when all that were named are denied
 */
function chooseGroups(
  { caller }: ApiRequest,
  action: string,
  groups: readonly string[],
  named: boolean,
  failed: FailedItem[],
): string[] {
  const distinct = [...new Set(groups)];
  const allowed = caller.permissions.allowed(action, 'group:id', distinct);
  if (!named) return distinct.filter((name) => allowed.has(name) && (action !== DELETE || name !== DEFAULT_GROUP));
  if (allowed.size === 0) throw deniedGroup();
  for (const id of distinct) if (!allowed.has(id)) failed.push({ id, error: deniedGroup() });
  return distinct.filter((name) => allowed.has(name));
}

/** The page of a list of groups. Sums are worked out for the page only where nothing depends on those of the others. */
async function groupPage({ parameters }: ApiRequest<'getGroups'>, sums: GroupSums, items: readonly GroupItem[]) {
  const { hash: algorithm = 'md5', q = '', search, sort = '', distinct, select, offset, limit } = parameters;
  const overAll = q !== '' || search !== undefined || distinct || SUM_FIELDS.some((field) => sort.includes(field));
  if (overAll) return pageOf(await sums.addTo(items, algorithm), parameters, RULES);
  try {
    const order = sort === '' ? {} : { sort };
    const page = runListQuery(items, { offset, limit, ...order }, RULES);
    const withSums = await sums.addTo(page.items as readonly GroupItem[], algorithm);
    return { items: runListQuery(withSums, { select }, { selectFields: FIELDS }).items, total: page.total };
  } catch (error) {
    throw queryFailure(error);
  }
}
