import { AgentView, isAboutAgents } from '../agents/agent-view.js';
import { shownNode } from '../http/api-request.js';
import type { SpreadCall } from '../http/dispatcher.js';
import { type ApiResult, listResult, type ShownFailure } from '../http/envelope.js';
import { type AgentShares, shareAgents } from './agent-shares.js';
import { joinLists } from './join-lists.js';
import { listOf, listsOf, messagesOf, type NodeAnswer, nodeAnswer } from './node-answers.js';
import { type RequestPart, WHOLE_REQUEST } from './request-part.js';
import type { SpreaderParts } from './spreader-parts.js';

/** Parameters and part with which a node answers for some agents. */
export type AgentShare = { readonly part: RequestPart; readonly parameters: Readonly<Record<string, unknown>> };

/** Has each node do what is asked for with its own agents, at once, and puts together what they did. */
export async function spreadAgents(parts: SpreaderParts, asked: SpreadCall): Promise<ApiResult> {
  const { calls, members } = parts;
  const { call, request, here, limitMs } = asked;
  const { signal } = request;
  const { shares, isAll } = await sharesOf(parts, asked);
  if (shares.elsewhere.size === 0 && shares.failed.length === 0) return here(WHOLE_REQUEST);
  const share = (ids: readonly string[]): AgentShare => shareOf(asked, isAll, ids);
  // The answer of this node has the messages, with no agent of its own, too.
  const own = share(shares.here);
  const answers = await Promise.all([
    nodeAnswer(members.self, listOf(here(own.part, own.parameters))),
    ...[...shares.elsewhere].map(([node, ids]) =>
      nodeAnswer(node, calls.list(node, { call, ...share(ids), limitMs, signal })),
    ),
  ]);
  const failed = answers.flatMap((answer) => failuresOf(asked, answer, isAll, shares));
  return listResult(joinLists(listsOf(answers), [...shares.failed, ...failed], messagesOf(answers)));
}

/** Who answers for which of the agents. @throws ApiError 4000 */
export async function sharesOf(
  { db, members }: SpreaderParts,
  { call, request }: SpreadCall,
): Promise<{ readonly shares: AgentShares; readonly isAll: boolean }> {
  if (!isAboutAgents(request)) throw new Error(`${request.operation.id} is about no agents`);
  const view = new AgentView(db, request);
  const group = call.parameters['group_id'];
  const shares = await shareAgents(view, request, members, typeof group === 'string' ? { group } : {});
  return { shares, isAll: view.isAll };
}

/** Who named agents is told of each; of all agents a node has those that it is given. */
export function shareOf({ call }: SpreadCall, isAll: boolean, ids: readonly string[]): AgentShare {
  return isAll
    ? { part: { agents: ids }, parameters: call.parameters }
    : { part: WHOLE_REQUEST, parameters: { ...call.parameters, agents_list: ids } };
}

/** Agents for which a node did not answer; of all agents the node is named instead. */
export function failuresOf(
  { call }: SpreadCall,
  answer: NodeAnswer,
  isAll: boolean,
  { elsewhere, here }: AgentShares,
): ShownFailure[] {
  if ('list' in answer) return [];
  const { node, error } = answer;
  if (isAll) return [{ id: shownNode(node, call.caller), error }];
  return (elsewhere.get(node) ?? here).map((id) => ({ id, error }));
}
