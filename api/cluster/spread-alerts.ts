import { MAX_TOP_VALUES } from '../../lib/bus/contracts/db-alerts.js';
import {
  ALERT_MESSAGES,
  type AlertBucketItem,
  type AlertValueItem,
  pageResult,
  sumBuckets,
  sumValues,
} from '../alerts/alert-answers.js';
import { isPlace, LEFT_OUT, packPlaces, type PagePlaces, unpackPagePlaces } from '../alerts/alert-place.js';
import { type AlertTimes, alertTimes, type GivenTimes, intervalOf, spanOf } from '../alerts/alert-time.js';
import { shownNode } from '../http/api-request.js';
import type { SpreadCall } from '../http/dispatcher.js';
import { type ApiResult, type ListResult, listResult, type ShownFailure } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { mergeAlerts, type NodeAlerts } from './merge-alerts.js';
import { listOf, listsOf, messagesOf, type NodeAnswer, nodeAnswer } from './node-answers.js';
import { NodeFailure } from './node-failure.js';
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
  const places = typeof cursor === 'string' ? unpackPagePlaces(cursor) : undefined;
  const parameters = withTimes(asked.call.parameters, alertTimes(asked.call.parameters as GivenTimes, now));
  delete parameters['cursor'];
  const nodes = await nodesOf(parts);
  const names = nodes.filter((node) => places === undefined || isPlace(places[node]));
  const answers = [
    ...(await askNodes(parts, asked, names, (node) => {
      const place = places?.[node];
      return { ...parameters, ...(isPlace(place) ? { cursor: place } : {}) };
    })),
    ...leftOut(places, names),
  ];
  const told = answers.flatMap((answer) => ('list' in answer ? [{ node: answer.node, list: answer.list }] : []));
  const { items, next } = mergeAlerts(
    told.map(({ node, list }) => nodeAlerts(node, list)),
    { limit: Number(limit), order: order === 'asc' ? 'asc' : 'desc' },
  );
  const ended = endedNodes(places);
  return pageResult({
    items,
    total: totalOf(
      [...ended.map(([, total]) => totalAtEnd(total)), ...told.map(({ list }) => totalOfList(list))],
      answers,
    ),
    next: packPlaces({
      ...Object.fromEntries(ended),
      ...Object.fromEntries(answers.map(({ node }) => [node, LEFT_OUT])),
      ...Object.fromEntries(told.map(({ node, list }) => [node, next[node] ?? endOf(list)])),
    }),
    failed: failuresOf(asked, answers),
  });
}

/** Nodes that a page before has left out, and that are none any more: they are named on each page. */
function leftOut(places: PagePlaces = {}, asked: readonly string[]): NodeAnswer[] {
  return Object.entries(places).flatMap(([node, place]) => {
    if (typeof place !== 'string' || asked.includes(node)) return [];
    const error = new NodeFailure(3022, node, 'it has not answered an earlier page, and is left out of further ones');
    return [{ node, error, thrown: error }];
  });
}

/** Nodes that a page before has told all of, with how many alerts they had. */
function endedNodes(places: PagePlaces = {}): (readonly [node: string, total: number | null])[] {
  return Object.entries(places).flatMap(([node, place]) => (typeof place === 'string' ? [] : [[node, place] as const]));
}

/** What a cursor keeps of a node that has no more. */
function endOf({ total, more }: ListResult): number | null {
  return more?.['total_is_exact'] === true ? total : null;
}

function totalAtEnd(total: number | null): Total {
  return { count: total ?? 0, exact: total !== null };
}

function totalOfList({ total, more }: ListResult): Total {
  return { count: total, exact: more?.['total_is_exact'] };
}

type Total = { readonly count: number; readonly exact: unknown };

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

/** Without a node that has not answered it is a part. */
function totalOf(totals: readonly Total[], answers: readonly NodeAnswer[]) {
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
