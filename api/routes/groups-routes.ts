import { agentListParameters } from '../agents/agent-parameters.js';
import { AgentView } from '../agents/agent-view.js';
import type { GroupSums } from '../agents/group-sums.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory, GroupItem } from '../groups/group-directory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ListMessages, listResult, messageResult } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import { pageOf, queryFailure } from '../lists/list-parameters.js';
import { runListQuery } from '../lists/run-list-query.js';
import { AGENT_MESSAGES } from './agents-routes.js';

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
      const { groups: permitted } = request.permitted;
      const failed = [...permitted.failed];
      const all = await groups.list(request);
      const known = new Map(all.map((group) => [group.name, group]));
      const items: GroupItem[] = [];
      for (const id of permitted.chosen(known.keys())) {
        const group = known.get(id);
        if (group === undefined) failed.push({ id, error: new ApiError(1710) });
        else items.push(group);
      }
      return listResult({ ...(await groupPage(request, sums, items)), failed, messages: READ_MESSAGES });
    },

    postGroups: async (request) => {
      const { group_id: group } = request.body;
      await groups.create(request, group);
      return messageResult(`Group '${group}' created.`);
    },

    deleteGroups: async (request) => {
      const { groups: permitted } = request.permitted;
      const failed = [...permitted.failed];
      const known = new Set((await groups.list(request)).map(({ name }) => name));
      const chosen = permitted.chosen(known).filter((name) => !permitted.isAll || name !== DEFAULT_GROUP);
      const { removed, failed: kept } = await groups.remove(request, chosen, known);
      failed.push(...kept);
      const shown = permitted.isAll ? failed.filter(({ error }) => !HIDDEN_ON_ALL.has(error.code)) : failed;
      return listResult({
        items: [...removed].sort(),
        total: removed.length,
        failed: shown,
        messages: DELETE_MESSAGES,
      });
    },

    getGroupsGroupIdAgents: async (request) => {
      const group = request.parameters.group_id;
      await groups.require(request, group);
      const page = await new AgentView(db, request).list({ ...agentListParameters(request.parameters), group });
      return listResult({ ...page, messages: AGENT_MESSAGES });
    },
  };
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
