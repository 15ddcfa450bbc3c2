import type { AgentSelection } from '../../../daemons/db/alerts/agent-selection.js';
import type { AlertHandlers } from '../../../daemons/db/alerts/without-store.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';

/** Alerts of an agent, or of none, with members that a test is about. */
export type SampleAlert = {
  readonly time: number;
  readonly level?: number;
  readonly rule?: string;
  readonly agent?: string;
  readonly groups?: readonly string[];
  readonly text?: string;
};

type Scope = Parameters<AlertHandlers['alerts.search']>[0];
type Kept = { readonly at: number; readonly alert: StoredAlert; readonly json: Record<string, unknown> };

/** Bytes of a line of alerts.json, all of them alike. */
const LINE = 100;
const FILE = '20261127-000';

/** Alerts of svc-db in the memory of a test, by the contract of lib/bus/contracts/db-alerts.ts; `q` and `search` are texts of the JSON. */
export class FakeAlerts {
  /** The store is off. */
  isOff = false;
  rebuilding = 0;
  /** Questions, in their order. */
  readonly asked: { readonly method: string; readonly params: object }[] = [];
  readonly #kept: Kept[] = [];
  readonly #waiting = new Set<() => void>();
  #agents: AgentSelection | undefined;

  /** @returns its id */
  add({ time, level = 3, rule = '1', agent = '000', groups = [], text = '' }: SampleAlert): string {
    const at = (this.#kept.length + 1) * LINE;
    const json = {
      timestamp: new Date(time).toISOString(),
      rule: { level, id: rule, groups, description: text },
      ...(agent === '' ? {} : { agent: { id: agent, name: `agent-${agent}` } }),
      id: `${Math.floor(time / 1000)}.${at}`,
      full_log: text,
    };
    const alert = { id: `${FILE}-${at}`, time, text: JSON.stringify(json) };
    this.#kept.push({ at, alert, json });
    for (const wake of [...this.#waiting]) wake();
    return alert.id;
  }

  readonly handlers = (agents: AgentSelection): AlertHandlers => {
    this.#agents = agents;
    const asking =
      <P extends object, T>(method: string, answer: (params: P) => T) =>
      (params: P): T => {
        this.asked.push({ method, params });
        if (this.isOff && method !== 'stats') throw new BusError('disabled', 'The store of alerts is off');
        return answer(params);
      };
    return {
      'alerts.search': asking('search', (params) => this.#search(params)),
      'alerts.get': asking('get', ({ id, ...whose }) => {
        const found = this.#kept.find(({ alert, json }) => alert.id === id || json['id'] === id);
        if (found === undefined || !this.#isMeant(found, whose)) throw new BusError('unknown_alert', `no alert ${id}`);
        return found.alert;
      }),
      'alerts.histogram': asking('histogram', (params) => {
        const { from, to, interval = 1 } = params;
        const found = this.#found({ ...params, from, to });
        const buckets = Array.from({ length: Math.ceil((to - from) / interval) }, (_none, index) => {
          const time = from + index * interval;
          const own = found.filter(({ alert }) => alert.time >= time && alert.time < time + interval);
          const by = params.by === undefined ? {} : { by: countsOf(own, params.by) };
          return { time, count: own.length, ...by };
        });
        return { interval, buckets, total: { count: found.length, exact: true } };
      }),
      'alerts.top': asking('top', (params) => {
        const found = this.#found(params);
        const values = countsOf(found, params.field).slice(0, params.limit);
        const missing = found.filter(({ json }) => valuesAt(json, params.field).length === 0).length;
        return { values, total: { count: found.length, exact: true }, missing };
      }),
      'alerts.follow': asking('follow', async (params) => {
        const end = ((this.#kept.at(-1)?.at ?? 0) + LINE) as number;
        const after = params.after === 'end' ? end : placeAt(params.after);
        const read = () => this.#found(params).filter(({ at }) => at >= after);
        if (read().length === 0 && params.waitMs > 0) await this.#added(params.waitMs);
        const page = read().slice(0, params.limit);
        const last =
          page.length === params.limit
            ? (page.at(-1)?.at ?? 0) + LINE
            : Math.max(after, (this.#kept.at(-1)?.at ?? 0) + LINE);
        const cursor = this.#kept.length === 0 ? null : `${FILE}-${last}`;
        return { alerts: page.map(({ alert }) => alert), cursor };
      }),
      'alerts.stats': asking('stats', () => ({
        ...{ enabled: !this.isOff, alerts: this.#kept.length, oldest: null, newest: null, segments: 1 },
        ...{ bytes: 0, behind: 0, rejected: 0, rebuilding: this.rebuilding },
      })),
    };
  };

  #search(params: Scope): ReturnType<AlertHandlers['alerts.search']> {
    const { order, limit, cursor, select, count } = params;
    const found = this.#found(params);
    const ordered = order === 'desc' ? found.toReversed() : found;
    const place = cursor === undefined ? undefined : placeAt(cursor);
    const left = ordered.filter(({ at }) => place === undefined || (order === 'desc' ? at < place : at >= place));
    const page = left.slice(0, limit);
    const last = page.at(-1)?.at ?? 0;
    return {
      alerts: page.map(({ alert, json }) =>
        select === undefined ? alert : { ...alert, text: JSON.stringify({ [select[0]!]: json[select[0]!] }) },
      ),
      cursor: left.length > page.length ? `${FILE}-${order === 'desc' ? last : last + LINE}` : null,
      total: count ? { count: found.length, exact: true } : null,
    };
  }

  #found({ from, to, q, filters = {}, level = 0, search, ...whose }: Partial<Scope>): Kept[] {
    if (search === '"') throw new BusError('bad_search', 'a quote is open');
    if (q === 'x') throw new BusError('query_1407', 'x');
    return this.#kept.filter(
      (one) =>
        this.#isMeant(one, whose) &&
        one.alert.time >= (from ?? 0) &&
        one.alert.time < (to ?? Number.POSITIVE_INFINITY) &&
        Number(valuesAt(one.json, 'rule.level')[0]) >= level &&
        one.alert.text.includes(search ?? '') &&
        Object.entries(filters).every(([field, values]) =>
          valuesAt(one.json, field).some((value) => values.includes(String(value))),
        ),
    );
  }

  #isMeant({ json }: Kept, { agents, among }: Pick<Partial<Scope>, 'agents' | 'among'>): boolean {
    const id = String(valuesAt(json, 'agent.id')[0]);
    if (agents !== undefined && !agents.includes(id)) return false;
    return among === undefined || this.#agents?.numbers(among).includes(Number(id)) === true;
  }

  #added(mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, mostMs);
      this.#waiting.add(wake);
    });
  }
}

function placeAt(place: string): number {
  return Number(place.slice(place.lastIndexOf('-') + 1));
}

function valuesAt(json: Record<string, unknown>, field: string): (string | number)[] {
  let value: unknown = json;
  for (const name of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]) as (string | number)[];
}

function countsOf(found: readonly Kept[], field: string) {
  const counts = new Map<string | number, number>();
  for (const { json } of found) for (const one of valuesAt(json, field)) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}
