import { isOssecVersion } from '../../lib/agentlink/agent-version.js';
import { type AgentFilter, EQUALITY_FILTERS } from '../../lib/bus/contracts/db-agents.js';
import { AGENT_FIELDS, type AgentField } from './agent-fields.js';
import { type AgentOs, type AgentRow, MANAGER_ID } from './agent-record.js';
import { compileScope } from './agent-scope.js';
import type { AgentSet } from './agent-set.js';
import { compileDatabaseQuery } from './query/database-query.js';

/** What decides on lists besides the agents. */
export type FilterContext = {
  /** Epoch milliseconds. */
  readonly now: number;
  /** `Wazuh v4.14.7`, that of the manager. */
  readonly managerVersion: string;
};

export type AgentTest = (row: AgentRow) => boolean;

type EqualityFilter = (typeof EQUALITY_FILTERS)[number];

const QUERY_RULES = {
  fields: [...AGENT_FIELDS.keys()],
  dateFields: [...AGENT_FIELDS.values()].filter(({ kind }) => kind === 'date').map(({ name }) => name),
  listFields: ['group'],
};

/** Agents that can pass a filter, far fewer than all, or undefined for all; and the tests they still have to pass. */
export type CompiledFilter = {
  readonly candidates: readonly AgentRow[] | undefined;
  readonly tests: readonly AgentTest[];
};

/** @throws QueryError for `q` */
export function compileFilter(filter: AgentFilter, agents: AgentSet, context: FilterContext): CompiledFilter {
  const tests: AgentTest[] = [];
  for (const name of EQUALITY_FILTERS) {
    const wanted = wantedValues(filter, name);
    if (wanted !== undefined) tests.push(equalityTest(name, wanted));
  }
  if (filter.scope !== undefined) tests.push(...compileScope(filter.scope));
  if (filter.older_than !== undefined) tests.push(...olderThan(filter.older_than, context.now));
  if (filter.no_group === true) tests.push(({ id, record }) => id !== MANAGER_ID && record.groups.length === 0);
  if (filter.outdated === true) {
    tests.push(({ id, record: { version } }) => {
      if (id === MANAGER_ID || version === undefined || isOssecVersion(version)) return false;
      return version !== context.managerVersion;
    });
  }
  if (filter.q !== undefined && filter.q !== '') {
    tests.push(compileDatabaseQuery(filter.q, { ...QUERY_RULES, now: context.now, read: queryReader }));
  }
  if (filter.search !== undefined) tests.push(searchTest(filter.search));
  return { candidates: candidatesOf(filter, agents), tests };
}

/** Lower case; undefined when the filter has no effect. */
function wantedValues(filter: AgentFilter, name: EqualityFilter): ReadonlySet<string> | undefined {
  const given = filter[name];
  if (given === undefined) return undefined;
  const values = (typeof given === 'string' ? [given] : given).map((value) => value.toLowerCase());
  if (values.includes('all')) return undefined;
  return new Set(name === 'version' ? values.map(fullVersion) : values);
}

function fullVersion(value: string): string {
  return `wazuh v${value.replace(/^(?:wazuh )?v?/, '')}`;
}

function equalityTest(name: EqualityFilter, wanted: ReadonlySet<string>): AgentTest {
  if (name === 'group') return ({ record }) => record.groups.some((group) => wanted.has(group.toLowerCase()));
  const { read } = fieldOf(name);
  // Many agents share a value: it is looked at once.
  const wants = new Decisions<string>((value) => wanted.has(value.toLowerCase()));
  return (row) => {
    const value = read(row);
    return typeof value === 'string' && wants.decide(value);
  };
}

/** Look-ups by id, name and address leave few agents to test. */
function candidatesOf(filter: AgentFilter, agents: AgentSet): readonly AgentRow[] | undefined {
  if (filter.ids !== undefined) {
    const rows = new Set(filter.ids.flatMap((id) => agents.get(Number(id)) ?? []));
    return [...rows].sort((a, b) => a.id - b.id);
  }
  const names = wantedValues(filter, 'name');
  if (names !== undefined) return lookUp(names, (name) => agents.byName.get(name));
  const addresses = wantedValues(filter, 'ip');
  if (addresses !== undefined) return lookUp(addresses, (address) => agents.byAddress.get(address));
  return undefined;
}

function lookUp(keys: Iterable<string>, find: (key: string) => Iterable<AgentRow>): AgentRow[] {
  return [...new Set([...keys].flatMap((key) => [...find(key)]))].sort((a, b) => a.id - b.id);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1, '': 1 };

/** rest-api.md 6.2 DELETE /agents: those never seen are as old as their registration. */
function olderThan(span: string, now: number): AgentTest[] {
  const [, number, unit] = /^(\d+)([dhms]?)$/.exec(span) ?? [];
  const seconds = Number(number) * (UNIT_SECONDS[unit ?? ''] ?? 1);
  if (!(seconds > 0)) return [];
  const limit = now / 1000 - seconds;
  return [
    ({ record, lastKeepAlive }) =>
      record.status === 'never_connected'
        ? record.dateAdd < limit
        : lastKeepAlive !== undefined && lastKeepAlive < limit,
  ];
}

/** Dates in milliseconds, as lib/query wants them. */
function queryReader(name: string): (row: AgentRow) => unknown {
  const field = fieldOf(name);
  if (field.kind !== 'date') return field.read;
  return (row) => {
    const seconds = field.read(row);
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  };
}

/** Searched for each agent; what many agents share is looked at once. */
const OWN_TEXTS = ['name', 'ip', 'registerIP', 'os.uname'].map(fieldOf);
const SHARED_TEXTS = ['status', 'version', 'manager', 'node_name', 'group_config_status', 'configSum', 'mergedSum'].map(
  fieldOf,
);

/**
 * Text in any text value, whatever the case; a number is an id, too (rest-api.md 4.5). With a leading `-`: in none. Dates
 * are left out: digits of an epoch say nothing to anybody.
 */
function searchTest(search: string): AgentTest {
  const complement = search.startsWith('-');
  const wanted = (complement ? search.slice(1) : search).toLowerCase();
  const id = /^\d{1,8}$/.test(wanted) ? Number(wanted) : undefined;
  const holds = containsTest(wanted);
  const texts = SHARED_TEXTS.map(({ read }) => ({ read, memory: new Decisions<string>(holds) }));
  const systems = new Decisions<AgentOs>((os) => Object.values(os).some((text) => text !== undefined && holds(text)));
  const groups = new Decisions<readonly string[]>((list) => holds(list.join(',')));
  const found = (row: AgentRow): boolean => {
    if (row.id === id) return true;
    for (const { read } of OWN_TEXTS) {
      const value = read(row);
      if (typeof value === 'string' && holds(value)) return true;
    }
    for (const { read, memory } of texts) {
      const value = read(row);
      if (typeof value === 'string' && memory.decide(value)) return true;
    }
    const { os, groups: list } = row.record;
    return (os !== undefined && systems.decide(os)) || groups.decide(list);
  };
  return (row) => found(row) !== complement;
}

/** @param wanted in lower case; an expression makes no copy of each text, and knows what ASCII needs of case */
function containsTest(wanted: string): (value: string) => boolean {
  if (!/^[ -~]*$/.test(wanted)) return (value) => value.toLowerCase().includes(wanted);
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), 'i');
  return (value) => pattern.test(value);
}

/** Remembers what was decided on a value; the one asked for last, which is often the next one too, without a look-up. */
class Decisions<K> {
  readonly #known = new Map<K, boolean>();
  readonly #make: (key: K) => boolean;
  #lastKey: K | undefined;
  #last = false;

  constructor(make: (key: K) => boolean) {
    this.#make = make;
  }

  decide(key: K): boolean {
    if (key === this.#lastKey) return this.#last;
    let value = this.#known.get(key);
    if (value === undefined) {
      value = this.#make(key);
      this.#known.set(key, value);
    }
    this.#lastKey = key;
    this.#last = value;
    return value;
  }
}

function fieldOf(name: string): AgentField {
  const field = AGENT_FIELDS.get(name);
  if (field === undefined) throw new TypeError(`agents have no field '${name}'`);
  return field;
}
