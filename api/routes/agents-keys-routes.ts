import { formatAgentId } from '../../lib/agentlink/agent-identity.js';
import { encodeKeyText } from '../../lib/agents/key-text.js';
import { parseDuration } from '../../lib/config/units.js';
import { AgentAddress } from '../../lib/network/agent-address.js';
import { AgentView } from '../agents/agent-view.js';
import type { Operations } from '../contract/operations.js';
import type { AgentToAdd, AgentWithKey, AuthdClient } from '../daemons/authd-client.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { dataResult, type FailedItem, listResult } from '../http/envelope.js';

const MAX_NAME = 128;
/** Largest span the rules of svc-authd know, seconds. */
const MAX_SECONDS = 4_294_967_295;
const DEFAULT_SPAN = '1h';

type AgentBody = Operations['postAgentsInsert']['body'];
/** When an agent in the way is replaced, as a body says it; what is absent has its default (rest-api.md 6.2). */
type ForceBody = NonNullable<AgentBody['force']>;

/** New agents and their keys (rest-api.md 6.2). */
export function agentsKeysRoutes(db: DbClient, authd: AuthdClient): OperationHandlers {
  /** @param force where the body says nothing of it */
  const create = async (request: ApiRequest, body: AgentBody, force: ForceBody) => {
    const added = await authd.add(request, newAgent(body, body.force ?? force));
    return dataResult({ id: added.id, key: shownKey(added) });
  };
  return {
    postAgents: (request) => create(request, request.body, { enabled: false }),
    postAgentsInsert: (request) => create(request, request.body, {}),
    postAgentsInsertQuick: (request) => create(request, { name: request.parameters.agent_name }, { enabled: false }),

    getAgentsAgentIdKey: async (request) => {
      const { agents, failed } = await new AgentView(db, request).chooseAgents();
      const items: object[] = [];
      const without: FailedItem[] = [];
      for (const { id } of agents) {
        try {
          items.push({ id, key: shownKey(await authd.get(request, id)) });
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 1701) throw error;
          without.push({ id, error });
        }
      }
      const messages = {
        all: 'Obtained keys for all selected agents',
        some: 'Some agent keys were not obtained',
        none: 'No agent keys were obtained',
      };
      return listResult({ items, total: items.length, failed: [...failed, ...without], messages });
    },
  };
}

/** @throws ApiError 1706, 1725, 1738 */
function newAgent({ name, ip = 'any', id, key }: AgentBody, force: ForceBody): AgentToAdd {
  if (name.length > MAX_NAME) throw new ApiError(1738);
  const address = ip.toLowerCase();
  if (AgentAddress.parse(address) === undefined) throw new ApiError(1706, { extra: ip });
  const number = id === undefined ? undefined : formatAgentId(Number(id));
  if (number !== undefined && !/^\d{3,8}$/.test(number)) {
    throw new ApiError(1725, { extra: `Invalid agent ID: ${id ?? ''}`, status: 400 });
  }
  // The manager's own.
  if (number === formatAgentId(0)) throw new ApiError(1708, { extra: number });
  const { enabled = true, disconnected_time: disconnected = {}, after_registration_time: registered } = force;
  return {
    name,
    ip: address,
    ...(number === undefined ? {} : { id: number }),
    ...(key === undefined ? {} : { key }),
    force: {
      enabled,
      key_mismatch: true,
      disconnected_time: { enabled: disconnected.enabled ?? true, seconds: spanSeconds(disconnected.value) },
      after_registration_time: spanSeconds(registered),
    },
  };
}

function spanSeconds(text = DEFAULT_SPAN): number {
  return Math.min(parseDuration(text) ?? MAX_SECONDS, MAX_SECONDS);
}

/** What is imported on the agent. */
function shownKey({ id, name, ip, key }: AgentWithKey): string {
  return encodeKeyText({ id, name, ip, key });
}
