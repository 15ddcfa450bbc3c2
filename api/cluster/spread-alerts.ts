import { MAX_TOP_VALUES } from '../../lib/bus/contracts/db-alerts.js';
import {
  ALERT_MESSAGES,
  type AlertBucketItem,
  type AlertValueItem,
  pageResult,
  sumBuckets,
  sumValues,
} from '../alerts/alert-answers.js';
import { packPlaces, unpackPlaces } from '../alerts/alert-place.js';
import { type AlertTimes, alertTimes, type GivenTimes, intervalOf, spanOf } from '../alerts/alert-time.js';
import { shownNode } from '../http/api-request.js';
import type { SpreadCall } from '../http/dispatcher.js';
import { type ApiResult, type ListResult, listResult, type ShownFailure } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { mergeAlerts, type NodeAlerts } from './merge-alerts.js';
import { listOf, messagesOf, type NodeAnswer, nodeAnswer } from './node-answers.js';
import type { SpreaderParts } from './spreader-parts.js';

/** One answer about the alerts of all nodes: each has those that it made itself. */
export async function spreadAlerts(parts: SpreaderParts, asked: SpreadCall, now: number): Promise<ApiResult> {
  switch (asked.call.operation.id) {
    case 'getAlerts':
      return spreadPage(parts, asked, now);
    case 'getAlertsHistogram':
      return spreadHistogram(parts, asked, now);
    default:
      return spreadTop(parts, asked, now);
  }
}

async function spreadPage(parts: SpreaderParts, asked: SpreadCall, now: number): Promise<ApiResult> {
  const { cursor, limit, order } = asked.call.parameters;
  const places = typeof cursor === 'string' ? unpackPlaces(cursor) : undefined;
  const parameters = withTimes(asked.call.parameters, alertTimes(asked.call.parameters as GivenTimes, now));
  delete parameters['cursor'];
  const names = (await nodesOf(parts)).filter((node) => places === undefined || typeof places[node] === 'string');
  const answers = await askNodes(parts, asked, names, (node) => {
    const place = places?.[node];
    return { ...parameters, ...(typeof place === 'string' ? { cursor: place } : {}) };
  });
  const told = answers.flatMap((answer) => ('list' in answer ? [{ node: answer.node, list: answer.list }] : []));
  const { items, next } = mergeAlerts(
    told.map(({ node, list }) => nodeAlerts(node, list)),
    { limit: Number(limit), order: order === 'asc' ? 'asc' : 'desc' },
  );
  return pageResult({
    items,
    total: totalOf(
      told.map(({ list }) => ({ count: list.total, exact: list.more?.['total_is_exact'] })),
      answers,
    ),
    next: packPlaces(next),
    failed: failuresOf(asked, answers),
  });
}

async function spreadHistogram(parts: SpreaderParts, asked: SpreadCall, now: number): Promise<ApiResult> {
  const { interval: length } = asked.call.parameters;
  const span = spanOf(asked.call.parameters as GivenTimes, now);
  // The same spans at all nodes.
  const interval = intervalOf(typeof length === 'string' ? length : undefined, span);
  const parameters = { ...withTimes(asked.call.parameters, span), interval: `${interval / 1000}` };
  const answers = await askNodes(parts, asked, await nodesOf(parts), () => parameters);
  const lists = listsOf(answers);
  const items = sumBuckets(lists.map(({ items: own }) => own as readonly AlertBucketItem[]));
  return summed(asked, answers, { ...lists[0]?.more }, items);
}

async function spreadTop(parts: SpreaderParts, asked: SpreadCall, now: number): Promise<ApiResult> {
  const { limit } = asked.call.parameters;
  const span = spanOf(asked.call.parameters as GivenTimes, now);
  // What is common in all is among the commonest of each, as a rule.
  const parameters = { ...withTimes(asked.call.parameters, span), limit: MAX_TOP_VALUES };
  const answers = await askNodes(parts, asked, await nodesOf(parts), () => parameters);
  const lists = listsOf(answers);
  const values = sumValues(lists.map(({ items }) => items as readonly AlertValueItem[]));
  const missing = lists.reduce((sum, { more }) => sum + Number(more?.['alerts_without_field']), 0);
  return summed(asked, answers, { alerts_without_field: missing }, values.slice(0, Number(limit)));
}

function summed(
  asked: SpreadCall,
  answers: readonly NodeAnswer[],
  others: Readonly<Record<string, unknown>>,
  items: readonly unknown[],
): ApiResult {
  const totals = listsOf(answers).map(({ more }) => ({
    count: Number(more?.['total_alerts']),
    exact: more?.['total_is_exact'],
  }));
  const { count, exact } = totalOf(totals, answers);
  const more = { ...others, total_alerts: count, total_is_exact: exact };
  return listResult({ items, total: items.length, failed: failuresOf(asked, answers), messages: ALERT_MESSAGES, more });
}

/** All nodes that the cluster has, those that are away too; this one alone where svc-clusterd does not answer. */
async function nodesOf({ members }: SpreaderParts): Promise<readonly string[]> {
  const view = await members.viewIfThere();
  return [members.self, ...(view?.nodes ?? []).map(({ name }) => name).filter((name) => name !== members.self)];
}

/** @throws what all were refused with, or what is wrong with the request itself */
async function askNodes(
  { calls, members }: SpreaderParts,
  { call, request, here, limitMs }: SpreadCall,
  names: readonly string[],
  parametersFor: (node: string) => ParameterValues,
): Promise<readonly NodeAnswer[]> {
  const { signal } = request;
  const part = { rows: 'whole' } as const;
  const answers = await Promise.all(
    names.map((node) => {
      const parameters = parametersFor(node);
      return nodeAnswer(
        node,
        node === members.self
          ? listOf(here(part, parameters))
          : calls.list(node, { call, parameters, part, limitMs, signal }),
      );
    }),
  );
  if (answers.length > 0) messagesOf(answers);
  return answers;
}

function nodeAlerts(node: string, { items, keys = [], more }: ListResult): NodeAlerts {
  const next = more?.['next_cursor'];
  return { node, items, keys: keys as unknown as NodeAlerts['keys'], next: typeof next === 'string' ? next : null };
}

function listsOf(answers: readonly NodeAnswer[]): readonly ListResult[] {
  return answers.flatMap((answer) => ('list' in answer ? [answer.list] : []));
}

/** Without a node that has not answered it is a part. */
function totalOf(totals: readonly { count: number; exact: unknown }[], answers: readonly NodeAnswer[]) {
  const isWhole = answers.every((answer) => 'list' in answer);
  return {
    count: totals.reduce((sum, { count }) => sum + count, 0),
    exact: isWhole && totals.every(({ exact }) => exact === true),
  };
}

function failuresOf({ call }: SpreadCall, answers: readonly NodeAnswer[]): ShownFailure[] {
  return answers.flatMap((answer) =>
    'list' in answer ? (answer.list.failed ?? []) : [{ id: shownNode(answer.node, call.caller), error: answer.error }],
  );
}

/** Times that mean the same at all nodes. */
function withTimes(parameters: ParameterValues, { from, to }: AlertTimes): Record<string, unknown> {
  return {
    ...parameters,
    ...(from === undefined ? {} : { from: epochText(from) }),
    ...(to === undefined ? {} : { to: epochText(to) }),
  };
}

/** Epoch milliseconds as parameters have them: fewer digits would be seconds. */
function epochText(time: number): string {
  return String(time).padStart(13, '0');
}
