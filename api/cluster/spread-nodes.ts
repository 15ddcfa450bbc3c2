import { shownNode } from '../http/api-request.js';
import type { SpreadCall } from '../http/dispatcher.js';
import { type ApiResult, type ListResult, listResult } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';
import { joinLists } from './join-lists.js';
import { listOf, listsOf, messagesOf, type NodeAnswer, nodeAnswer } from './node-answers.js';
import { WHOLE_REQUEST } from './request-part.js';
import type { SpreaderParts } from './spreader-parts.js';

/** Parameters that make a page out of a list: of what other nodes have, the node that is asked makes it. */
const OF_PAGES = ['offset', 'limit', 'sort', 'search', 'select', 'q', 'distinct'];
/** Items that a node gives of such a list: as many as the contract lets anybody ask for. */
const MOST_ITEMS = 100_000;

/**
 * Has the nodes of a request do what is asked for, at once; this node answers for itself, and for names that nobody knows.
 * @param masterLast whether the master comes behind the others, this node among them
 */
export async function spreadNodes(
  { members, calls }: SpreaderParts,
  { call, request, here, limitMs }: SpreadCall,
  masterLast: boolean,
): Promise<ApiResult> {
  const { signal } = request;
  const { nodes } = request.permitted as { readonly nodes: PermittedIds };
  // Nodes that are named can be said to be away, each; of all nodes nobody else knows which they are.
  const view = nodes.isAll ? await members.view(signal) : await members.viewIfThere(signal);
  const known = view === undefined ? nodes.ids : view.nodes.map(({ name }) => name);
  const chosen = new Set(nodes.chosen([members.self, ...known]));
  const others = known.filter((name) => name !== members.self && chosen.has(name));
  if (others.length === 0) return here(WHOLE_REQUEST);
  const ask = (node: string): Promise<NodeAnswer> => {
    const parameters = { ...call.parameters, nodes_list: [node] };
    return nodeAnswer(node, calls.list(node, { call, parameters, limitMs, signal }));
  };
  const last = masterLast ? others.filter((name) => name === view?.master) : [];
  const first = others.filter((name) => !last.includes(name));
  // Behind the other nodes where it is the master itself.
  const early = await Promise.all(first.map(ask));
  // It does not know those that answer for themselves.
  const local = await nodeAnswer(members.self, listWithout(others, listOf(here(WHOLE_REQUEST))));
  const answers = [local, ...early, ...(await Promise.all(last.map(ask)))];
  const failed = answers.flatMap((answer) => ('list' in answer ? [] : [{ id: answer.node, error: answer.error }]));
  return listResult(joinLists(listsOf(answers), failed, messagesOf(answers)));
}

async function listWithout(names: readonly string[], asked: Promise<ListResult>): Promise<ListResult> {
  const list = await asked;
  return { ...list, failed: (list.failed ?? []).filter(({ id }) => !names.includes(String(id))) };
}

/** Has all nodes that are heard say what they have; this node makes one list of it, and pages of that. */
export async function spreadEverywhere(
  { members, calls }: SpreaderParts,
  { call, request, here, limitMs }: SpreadCall,
): Promise<ApiResult> {
  const { signal } = request;
  const view = await members.viewIfThere(signal);
  const others = (view?.nodes ?? []).filter(({ self, present }) => !self && present).map(({ name }) => name);
  if (others.length === 0) return here(WHOLE_REQUEST);
  const parameters = withoutPages(call.parameters);
  const answers = await Promise.all(
    others.map((node) => nodeAnswer(node, calls.list(node, { call, parameters, limitMs, signal }))),
  );
  const elsewhere = listsOf(answers).flatMap(({ items }) => items);
  const failed = answers.flatMap((answer) =>
    'list' in answer ? [] : [{ id: shownNode(answer.node, call.caller), error: answer.error }],
  );
  const whole = await listOf(here({ elsewhere }));
  return listResult({ ...whole, failed: [...(whole.failed ?? []), ...failed] });
}

function withoutPages(parameters: ParameterValues): ParameterValues {
  const others = Object.entries(parameters).filter(([name]) => !OF_PAGES.includes(name));
  return { ...Object.fromEntries(others), offset: 0, limit: MOST_ITEMS };
}
