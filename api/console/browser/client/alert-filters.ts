import type { Parameters } from './api-client.js';

/** A filter of `GET /alerts`, with the field of an alert that it is about. */
type FilterField = { readonly name: string; readonly path: string };

/**
 * What the filter by groups of agents is called beside the fields of an alert: no alert has it, the manager knows who is in a group now. There
 * is no filter for those that are in none of them.
 */
export const AGENT_GROUP = 'agent.group';

/** Filters that take several values, of which an alert must have one. */
const LISTS: readonly FilterField[] = [
  { name: 'agent_names', path: 'agent.name' },
  { name: 'agents_list', path: 'agent.id' },
  { name: 'agent_groups', path: AGENT_GROUP },
  { name: 'rule_ids', path: 'rule.id' },
  { name: 'rule_groups', path: 'rule.groups' },
  { name: 'mitre_ids', path: 'rule.mitre.id' },
  { name: 'decoders', path: 'decoder.name' },
  { name: 'location', path: 'location' },
  { name: 'srcip', path: 'data.srcip' },
  { name: 'dstip', path: 'data.dstip' },
  { name: 'srcuser', path: 'data.srcuser' },
  { name: 'dstuser', path: 'data.dstuser' },
];

/** Filters with one value. */
const SINGLES: readonly FilterField[] = [
  { name: 'min_level', path: 'rule.level' },
  { name: 'level', path: 'rule.level' },
];

/** Fields without a filter of their own whose commonest values the API counts (`field` of `GET /alerts/top`). */
const COUNTED = [
  'rule.mitre.tactic',
  'rule.mitre.technique',
  'rule.pci_dss',
  'rule.gdpr',
  'rule.hipaa',
  'rule.nist_800_53',
  'rule.tsc',
  'agent.ip',
  'manager.name',
  'cluster.node',
  'predecoder.program_name',
  'predecoder.hostname',
  'data.user',
  'syscheck.path',
  'syscheck.event',
  'data.win.system.eventID',
  'data.win.system.channel',
  'data.win.system.providerName',
] as const;

/** What can be filtered by, as it is typed: a name of the API, or a field by its path. */
export const FILTERS: readonly FilterField[] = [...LISTS, ...SINGLES, ...COUNTED.map((path) => ({ name: path, path }))];

/** What a search is besides its time: filters that all must hold. */
const NAMES = [...LISTS, ...SINGLES].map(({ name }) => name).concat('search', 'q');

/** Characters that `q` takes in a value (rest-api.md 4.4); a quote stands for any one. */
export const TAKEN = /[\p{L}\p{N}\s_\-.:?\\/'"=@%<>{}[\]$]/u;
/** Of a value that `q` takes. */
const MOST_WILDCARDS = 32;
/** Characters of a value that is filtered by: what is longer is a text, and in the URL nobody can read it. */
const MOST_CHARACTERS = 256;

/** One filter as it is seen, and can be taken away. */
export type Chip = {
  /** Name of the parameter. */
  readonly name: string;
  readonly path: string | undefined;
  readonly operator: string;
  readonly value: string;
  /** The parameters without it. */
  readonly without: Changes;
};

/** Changes of the parameters of the page; undefined takes one away. */
export type Changes = Readonly<Record<string, string | undefined>>;

type Clause = { readonly field: string; readonly operator: string; readonly value: string; readonly text: string };

/** Parameters of the API for what the URL says, without a time. */
export function filtersOf(params: URLSearchParams): Parameters {
  return Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? undefined]));
}

/** What the URL says, filter by filter. */
export function chipsOf(params: URLSearchParams): Chip[] {
  const chips: Chip[] = [];
  for (const { name, path } of LISTS) {
    const values = valuesOf(params, name);
    for (const value of values) {
      const others = values.filter((other) => other !== value).join(',');
      chips.push({ name, path, operator: '=', value, without: { [name]: others === '' ? undefined : others } });
    }
  }
  for (const { name, path } of SINGLES) {
    const value = params.get(name) ?? '';
    const operator = name === 'min_level' ? '≥' : '=';
    if (value !== '') chips.push({ name, path, operator, value, without: { [name]: undefined } });
  }
  return [...chips, ...queryChips(params.get('q') ?? '')];
}

/**
 * The filter for one value of a field.
 * @param isWanted false for alerts that do not have it
 * @returns undefined when such a filter cannot be worded
 */
export function filterBy(params: URLSearchParams, path: string, value: string, isWanted = true): Changes | undefined {
  if (value === '' || value.length > MOST_CHARACTERS) return undefined;
  const list = LISTS.find((field) => field.path === path);
  if (isWanted && list !== undefined && !/[,;]/.test(value)) {
    const values = valuesOf(params, list.name);
    return values.includes(value) ? {} : { [list.name]: [...values, value].join(',') };
  }
  if (path === AGENT_GROUP) return undefined;
  if (isWanted && path === 'rule.level') return { level: value, min_level: undefined };
  const clause = clauseOf(path, isWanted ? '=' : '!=', value);
  if (clause === undefined) return undefined;
  const before = params.get('q') ?? '';
  const clauses = clausesOf(before);
  if (clauses?.some(({ text }) => text === clause) === true) return {};
  // A query with alternatives holds as a whole, beside what is added.
  return { q: before === '' ? clause : `${clauses === undefined ? `(${before})` : before};${clause}` };
}

/**
 * The filter for what somebody typed, such as `srcip` and `10.0.0.1`, or `data.win.system.eventID` and `4625`.
 * @returns undefined when there is no such filter
 */
export function filterNamed(
  params: URLSearchParams,
  name: string,
  value: string,
  isWanted: boolean,
): Changes | undefined {
  const known = FILTERS.find((field) => field.name === name);
  if (known === undefined && !/^[A-Za-z_][\w-]*(\.[\w-]+)+$/.test(name)) return undefined;
  if (name === 'min_level' && isWanted) return { min_level: value, level: undefined };
  return filterBy(params, known?.path ?? name, value, isWanted);
}

/** A clause of `q`; characters that `q` does not take are left open. */
function clauseOf(field: string, operator: string, value: string): string | undefined {
  if (!/^[\p{L}\p{N}_.-]+$/u.test(field)) return undefined;
  const balanced = isBalanced(value);
  let open = 0;
  const written = Array.from(value.replace(/^\s|\s$/g, '"'), (character) => {
    // Characters outside the basic plane are two to the server, which takes them as they are.
    const isTaken = character.length > 1 || TAKEN.test(character) || (balanced && /[()]/.test(character));
    if (isTaken && !/['"]/.test(character)) return character;
    open += 1;
    return '"';
  }).join('');
  // These two mean something else there.
  const said = /^(null|all)$/i.test(written) ? `"${written.slice(1)}` : written;
  return open > MOST_WILDCARDS ? undefined : `${field}${operator}${said}`;
}

function isBalanced(value: string): boolean {
  let depth = 0;
  for (const character of value) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

function valuesOf(params: URLSearchParams, name: string): string[] {
  return (params.get(name) ?? '').split(',').filter((value) => value !== '');
}

function queryChips(q: string): Chip[] {
  if (q === '') return [];
  const clauses = clausesOf(q);
  if (clauses === undefined) return [{ name: 'q', path: undefined, operator: '', value: q, without: { q: undefined } }];
  return clauses.map((clause) => {
    const others = clauses.filter((other) => other !== clause).map(({ text }) => text);
    const { field, operator, value } = clause;
    return {
      ...{ name: 'q', path: field, operator, value },
      without: { q: others.length === 0 ? undefined : others.join(';') },
    };
  });
}

/** The clauses of a `q` that all must hold; undefined for one with alternatives, which is taken as a whole. */
function clausesOf(q: string): Clause[] | undefined {
  if (q === '' || q.replace(/\[[^\]]*\]/g, '').includes(',')) return undefined;
  const clauses: Clause[] = [];
  for (const text of q.split(';')) {
    const [, field = '', operator = '', value = ''] = /^([\p{L}\p{N}_.-]+)(!=|[=<>~])(.+)$/u.exec(text) ?? [];
    if (field === '') return undefined;
    clauses.push({ field, operator, value, text });
  }
  return clauses;
}
