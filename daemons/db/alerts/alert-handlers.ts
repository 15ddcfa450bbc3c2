import { Limiter } from '../../../lib/async/limiter.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { MAX_ALERT_PAGE_BYTES, MAX_HISTOGRAM_BUCKETS, type StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import { selectFields } from '../../../lib/query/select-fields.js';
import { answeringList } from '../query/answering-list.js';
import type { AgentSelection, Among } from './agent-selection.js';
import type { AlertJson, PlainValue } from './alert-fields.js';
import { type AskThread, commonest, type CountedAlerts, countPieces, searchPieces } from './alert-pieces.js';
import { type AlertPlace, parsePlace, placeText } from './alert-place.js';
import { AlertQuestion, type AlertScope } from './alert-question.js';
import { roundInterval } from './round-interval.js';
import type { AlertHandlers } from './without-store.js';

export type AlertHandlersParts = {
  readonly ask: AskThread;
  readonly agents: Pick<AgentSelection, 'numbers'>;
  /** Resolves when there is more to find, or after so many milliseconds. */
  readonly grown: (mostMs: number) => Promise<void>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Questions that are worked on at a time, in turns; others wait. */
const AT_ONCE = 8;
const MOST_WAITING = 64;
const SECOND_MS = 1000;

type ScopeParams = Omit<AlertScope, 'members'> & { readonly among?: Among | undefined; readonly withinMs: number };

/** Answers about the alerts that are kept to be searched (lib/bus/contracts/db-alerts.ts). */
export function alertHandlers({ ask, agents: selection, grown, now }: AlertHandlersParts): AlertHandlers {
  const limiter = new Limiter({ atOnce: AT_ONCE, mostWaiting: MOST_WAITING });
  /** Refuses a question that is none before the thread has it. */
  const asking = <T>(params: ScopeParams, work: (asked: Asked) => Promise<T>): Promise<T> =>
    answeringList(() => {
      const time = now();
      const { withinMs, from, to, q, filters, level, search, agents, among } = params;
      const members = among === undefined ? undefined : selection.numbers(among);
      const scope = { from, to, q, filters, level, search, agents, members };
      void new AlertQuestion(scope, time);
      return limiter.run(() => work({ question: { scope, now: time }, until: performance.now() + withinMs }));
    });
  return {
    'alerts.search': (params) =>
      asking(params, async ({ question, until }) => {
        const { order, limit, cursor, select, count } = params;
        const from = cursor === undefined ? undefined : parsePlace(cursor);
        const call = { ...question, order, limit, cursor: from, bytes: MAX_ALERT_PAGE_BYTES };
        const { alerts, next, isDone } = await searchPieces(ask, call, until);
        return {
          alerts: select === undefined ? [...alerts] : alerts.map((alert) => selected(alert, select)),
          cursor: isDone || next === undefined ? null : placeText(next),
          total: count ? totalOf(await countPieces(ask, question, {}, until)) : null,
        };
      }),
    'alerts.get': ({ id, agents, among }) =>
      asking({ agents, among, withinMs: GET_MS }, async ({ question, until }) => {
        const found = await find(ask, id, until);
        const isVisible = found !== undefined && new AlertQuestion(question.scope, 0).matches(read(found), found.time);
        if (!isVisible) throw new BusError('unknown_alert', `There is no alert ${id}`);
        return found;
      }),
    'alerts.histogram': (params) => asking(params, (asked) => histogram(ask, params, asked)),
    'alerts.top': (params) =>
      asking(params, async ({ question, until }) => {
        const counted = await countPieces(ask, question, { field: params.field }, until);
        const values = commonest(counted.values, params.limit).map(([value, count]) => ({ value, count }));
        return { values, total: totalOf(counted), missing: counted.missing };
      }),
    'alerts.follow': async (params) => {
      const start = performance.now();
      const left = (): number => start + params.waitMs - performance.now();
      let after = params.after === 'end' ? await ask('end', {}) : parsePlace(params.after);
      for (;;) {
        const more = grown(Math.max(0, left()));
        const from = after;
        const found = await asking(params, ({ question, until }) => {
          const call = { ...question, order: 'asc' as const, limit: params.limit, bytes: MAX_ALERT_PAGE_BYTES };
          return searchPieces(ask, { ...call, cursor: from }, until);
        });
        after = found.next ?? after;
        const isLate = performance.now() - start >= Math.max(params.waitMs, MOST_LOOKING_MS);
        const isOver = found.alerts.length > 0 || (found.isDone && left() <= 0) || isLate;
        if (isOver) return { alerts: [...found.alerts], cursor: after === undefined ? null : placeText(after) };
        if (found.isDone) await more;
      }
    },
    'alerts.stats': async () => ({ enabled: true, ...(await ask('stats', {})) }),
  };
}

type Asked = { readonly question: { readonly scope: AlertScope; readonly now: number }; readonly until: number };

/** So long alerts are looked through for one that is meant: who asks goes on from where that came to. */
const MOST_LOOKING_MS = 3000;
/** What an alert by its id may take. */
const GET_MS = 5000;

/** By a place, or by the id that the alert itself has: its seconds say when it was written. */
async function find(ask: AskThread, id: string, until: number): Promise<StoredAlert | undefined> {
  const place: AlertPlace | undefined = parsePlace(id);
  if (place !== undefined) return ask('get', place);
  const second = Number(id.split('.')[0]) * SECOND_MS;
  const scope = { from: second, to: second + SECOND_MS, filters: { id: [id] } };
  const call = { scope, now: 0, order: 'desc' as const, cursor: undefined, limit: 1, bytes: MAX_ALERT_PAGE_BYTES };
  const { alerts } = await searchPieces(ask, call, until);
  return alerts[0];
}

type HistogramParams = ScopeParams & {
  readonly from: number;
  readonly to: number;
  readonly interval?: number | undefined;
  readonly buckets: number;
  readonly by?: NonNullable<Parameters<typeof countPieces>[2]['field']> | undefined;
  readonly series: number;
};

async function histogram(ask: AskThread, params: HistogramParams, { question, until }: Asked) {
  const { from, to, by, series } = params;
  const span = Math.max(1, to - from);
  const interval = params.interval ?? roundInterval(span, params.buckets);
  const count = Math.ceil(span / interval);
  if (count > MAX_HISTOGRAM_BUCKETS) {
    throw new BusError(
      'bad_params',
      `interval makes ${String(count)} buckets, ${String(MAX_HISTOGRAM_BUCKETS)} is the limit`,
    );
  }
  const buckets = { from, interval, count };
  let values: PlainValue[] | undefined;
  let isExact = true;
  if (by !== undefined) {
    const top = await countPieces(ask, question, { field: by }, until);
    values = commonest(top.values, series).map(([value]) => value);
    ({ isExact } = top);
  }
  const counted = await countPieces(ask, question, { buckets, field: by, series: values }, until);
  return {
    interval,
    buckets: Array.from(counted.buckets, (total, index) => ({
      time: from + index * interval,
      count: total,
      ...(values === undefined ? {} : { by: seriesAt(values, counted.series, index) }),
    })),
    total: totalOf({ ...counted, isExact: isExact && counted.isExact }),
  };
}

function seriesAt(values: readonly PlainValue[], series: readonly Float64Array[], bucket: number) {
  const counts = values.map((value, index) => ({ value, count: series[index]?.[bucket] ?? 0 }));
  return counts.filter(({ count }) => count > 0);
}

function totalOf({ total, isExact }: Pick<CountedAlerts, 'total' | 'isExact'>) {
  return { count: total, exact: isExact };
}

function selected(alert: StoredAlert, fields: readonly string[]): StoredAlert {
  const [item = {}] = selectFields([read(alert)], fields, { allowed: fields });
  return { ...alert, text: JSON.stringify(item) };
}

function read({ text }: StoredAlert): AlertJson {
  return JSON.parse(text) as AlertJson;
}
