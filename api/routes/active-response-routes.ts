import { setMaxListeners } from 'node:events';
import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { isOssecVersion } from '../../lib/agentlink/agent-version.js';
import { responseMessage } from '../../lib/agentlink/response-message.js';
import { takesTextOrders } from '../../lib/agentlink/restart-order.js';
import { Limiter } from '../../lib/async/limiter.js';
import type { Home } from '../../lib/home/home.js';
import { isObject } from '../../lib/json/is-object.js';
import { activeOnes, agentsToOrder, orderResult } from '../agents/agent-orders.js';
import { type AgentItem, AgentView } from '../agents/agent-view.js';
import { sharedResponses } from '../agents/shared-responses.js';
import type { DbClient } from '../daemons/db-client.js';
import type { RemotedClient } from '../daemons/remoted-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import type { FailedItem, ListMessages } from '../http/envelope.js';

const MESSAGES: ListMessages = {
  all: 'AR command was sent to all agents',
  some: 'AR command was not sent to some agents',
  none: 'AR command was not sent to any agent',
};
/** Agents asked at a time whether they run responses, and how long one may take, milliseconds. */
const ASKED_AT_ONCE = 64;
const ANSWER_MS = 3000;
/** Begins the name of a program of the agent, which needs not be configured. */
const DIRECT = '!';
/** What old agents would hand to a shell. */
const FOR_SHELLS = /["'\t;`><|#*[\]{}&$!:()\\]/g;

export type ActiveResponseParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly db: DbClient;
  readonly remoted: RemotedClient;
};

/** Active responses that a caller of the API asks for (rest-api.md 6.14, daemons-and-config.md 5.5); svc-remoted sends them. */
export function activeResponseRoutes({ home, node, db, remoted }: ActiveResponseParts): OperationHandlers {
  return {
    putActiveResponse: async (request) => {
      const { command, arguments: extraArgs = [], alert = {} } = request.body;
      const view = new AgentView(db, request);
      const chosen = await agentsToOrder(view);
      // 000 is no agent: whoever names it beside others means these (rest-api.md 6.14).
      const failed = chosen.failed.filter(({ id }) => id !== MANAGER_ID);
      const { ready, failed: others } = activeOnes({ agents: chosen.agents, failed });
      const { able, disabled } = await divide(remoted, request, ready);
      const known = command.startsWith(DIRECT) || sharedResponses(home).has(command);
      const unknown = known ? [] : able.map(({ id }) => ({ id, error: new ApiError(1652) }));
      const recipients = known ? able : [];
      const [legacy, current] = [
        recipients.filter(({ version }) => takesTextOrders(version)),
        recipients.filter(({ version }) => !takesTextOrders(version)),
      ];
      const message = responseMessage({ origin: { name: node(), module: 'api' }, command, extraArgs, alert });
      const unsent = [
        await remoted.send(request, legacy, `execd ${textOrder(command, extraArgs)}`),
        await remoted.send(request, current, `execd ${message}`),
      ].flat();
      return orderResult(ready, [...others, ...disabled, ...unknown, ...unsent], view.isAll, MESSAGES);
    },
  };
}

/** Those that run responses, as they say themselves; the others fail with 1750. */
async function divide(
  remoted: RemotedClient,
  request: ApiRequest,
  agents: readonly AgentItem[],
): Promise<{ readonly able: readonly AgentItem[]; readonly disabled: readonly FailedItem[] }> {
  const limiter = new Limiter({ atOnce: ASKED_AT_ONCE });
  // Each question listens for the end of the request; Node would take so many listeners for a leak.
  setMaxListeners(2 * ASKED_AT_ONCE, request.signal);
  const refuses = await Promise.all(
    agents.map((agent) => limiter.run(() => refusesResponses(remoted, request, agent))),
  );
  return {
    able: agents.filter((_agent, i) => refuses[i] !== true),
    disabled: agents.filter((_agent, i) => refuses[i] === true).map(({ id }) => ({ id, error: new ApiError(1750) })),
  };
}

/** An agent that cannot say it is sent the response all the same: it refuses by itself what it does not want. */
async function refusesResponses(remoted: RemotedClient, request: ApiRequest, agent: AgentItem): Promise<boolean> {
  const { id, version } = agent;
  if (typeof version === 'string' && isOssecVersion(version)) return false;
  try {
    const answer = await remoted.ask(request, id, 'com', 'getconfig active-response', ANSWER_MS);
    const section = answer.ok ? answer.value['active-response'] : undefined;
    return isObject(section) && section['disabled'] === 'yes';
  } catch (error) {
    if (error instanceof ApiError && UNANSWERED.has(error.code)) return false;
    throw error;
  }
}

/** Not connected any more, or slow. */
const UNANSWERED: ReadonlySet<number> = new Set([1701, 1740, 3021]);

/** For agents before 4.2: `<command> - -`, or the arguments instead. */
function textOrder(command: string, extraArgs: readonly string[]): string {
  const words =
    extraArgs.length === 0 ? ['-', '-'] : extraArgs.map((word) => word.replace(FOR_SHELLS, String.raw`\$&`));
  return [command, ...words].join(' ');
}
