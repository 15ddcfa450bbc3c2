import { parseSort } from '../../lib/query/sort-items.js';
import type { SpreadCall } from '../http/dispatcher.js';
import { type ApiResult, type ListResult, listResult } from '../http/envelope.js';
import { mergeRows, type RowSource, type RowsPage } from './merge-rows.js';
import { listOf, messagesOf, type NodeAnswer, nodeAnswer } from './node-answers.js';
import { WHOLE_REQUEST } from './request-part.js';
import { type AgentShare, failuresOf, shareOf, sharesOf } from './spread-agents.js';
import type { SpreaderParts } from './spreader-parts.js';

/** Asks one node for rows of its agents. */
type AskRows = (share: AgentShare) => Promise<ListResult>;

/** One list of the rows that nodes have of their agents: sorted, and cut into pages, over all of them. */
export async function spreadRows(parts: SpreaderParts, asked: SpreadCall): Promise<ApiResult> {
  const { calls, members } = parts;
  const { call, request, here, limitMs } = asked;
  const { signal } = request;
  const { shares, isAll } = await sharesOf(parts, asked);
  if (shares.elsewhere.size === 0 && shares.failed.length === 0) return here(WHOLE_REQUEST);
  const rowsAt = (node: string, ids: readonly string[], ask: AskRows): NodeRows =>
    new NodeRows(node, shareOf(asked, isAll, ids), ask);
  const sources = [
    // What this node answers has the messages, with no agent of its own, too.
    rowsAt(members.self, shares.here, ({ part, parameters }) => listOf(here(part, parameters))),
    ...[...shares.elsewhere].map(([node, ids]) =>
      rowsAt(node, ids, (share) => calls.list(node, { call, ...share, limitMs, signal })),
    ),
  ];
  const { offset, limit, sort } = call.parameters;
  const page = await mergeRows(sources, {
    offset: Number(offset ?? 0),
    limit: Number(limit ?? 0),
    descending: typeof sort === 'string' && parseSort(sort).descending,
  });
  const failed = sources.flatMap(({ failure, told }) => [
    ...(failure === undefined ? [] : failuresOf(asked, failure, isAll, shares)),
    ...(told?.failed ?? []),
  ]);
  const messages = messagesOf(sources.flatMap(({ first }) => first ?? []));
  return listResult({ ...page, failed: [...shares.failed, ...failed], messages });
}

/** Rows of one node; that it does not answer, or not any more, is part of the answer. */
class NodeRows implements RowSource {
  /** Its first answer. */
  first: NodeAnswer | undefined;
  failure: NodeAnswer | undefined;

  constructor(
    private readonly node: string,
    private readonly share: AgentShare,
    private readonly ask: AskRows,
  ) {}

  /** The first list that it gave. */
  get told(): ListResult | undefined {
    return this.first !== undefined && 'list' in this.first ? this.first.list : undefined;
  }

  async page(from: number, limit: number, rows: 'whole' | 'keys'): Promise<RowsPage | undefined> {
    // One that did not answer is not waited for again.
    if (this.failure !== undefined) return undefined;
    const { part, parameters } = this.share;
    const share = { part: { ...part, rows }, parameters: { ...parameters, offset: from, limit } };
    const answer = await nodeAnswer(this.node, this.ask(share));
    this.first ??= answer;
    if (!('list' in answer)) {
      this.failure = answer;
      return undefined;
    }
    const { items, total, keys, counts } = answer.list;
    // Without keys nothing can be merged: there are no rows then.
    return { items, total, keys: keys ?? [], counts };
  }
}
