import type { AgentOs, AgentRow } from './agent-record.js';
import { requireFields } from './query/require-fields.js';

/** What sorting compares: numbers as numbers, text in lower case; undefined goes last. */
export type SortKey = number | string | undefined;

/** A field of an agent as the API names it (agents-and-groups.md 10.1). */
export type AgentField = {
  readonly name: string;
  /** Dates are epoch seconds. */
  readonly kind: 'text' | 'number' | 'date' | 'list';
  /** Undefined when the agent has no such value. */
  readonly read: (row: AgentRow) => string | number | readonly string[] | undefined;
  readonly sortKey: (row: AgentRow) => SortKey;
};

function text(name: string, read: (row: AgentRow) => string | undefined): AgentField {
  return { name, kind: 'text', read, sortKey: (row) => read(row)?.toLowerCase() };
}

function numeric(name: string, kind: 'number' | 'date', read: (row: AgentRow) => number | undefined): AgentField {
  return { name, kind, read, sortKey: read };
}

function system(name: keyof AgentOs & string): AgentField {
  return text(`os.${name}`, ({ record }) => record.os?.[name]);
}

/** The numbers in a text as one: `Wazuh v4.14.7` sorts after `Wazuh v4.9.2`. */
function versionKey(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const numbers = value.match(/\d{1,5}/g) ?? [];
  return [0, 1, 2].reduce((key, index) => key * 100_000 + Number(numbers[index] ?? 0), 0);
}

const ALL_FIELDS: readonly AgentField[] = [
  numeric('id', 'number', ({ id }) => id),
  text('name', ({ record }) => record.name),
  text('ip', (row) => row.address),
  text('registerIP', ({ record }) => record.registerIP),
  text('status', ({ record }) => record.status),
  numeric('status_code', 'number', ({ record }) => record.statusCode),
  system('name'),
  // By major and minor as numbers (rest-api.md 6.2).
  {
    ...system('version'),
    sortKey: ({ record: { os } }) =>
      os?.version === undefined
        ? undefined
        : versionKey(os.major === undefined ? os.version : `${os.major} ${os.minor ?? ''}`),
  },
  system('platform'),
  system('codename'),
  system('major'),
  system('minor'),
  text('os.uname', ({ record }) => record.uname),
  system('arch'),
  system('build'),
  { ...text('version', ({ record }) => record.version), sortKey: ({ record }) => versionKey(record.version) },
  text('manager', ({ record }) => record.manager),
  text('node_name', ({ record }) => record.nodeName),
  {
    name: 'group',
    kind: 'list',
    read: ({ record }) => (record.groups.length === 0 ? undefined : record.groups),
    sortKey: ({ record }) => (record.groups.length === 0 ? undefined : record.groups.join(',').toLowerCase()),
  },
  text('group_config_status', (row) => row.groupConfigStatus),
  text('configSum', ({ record }) => record.configSum),
  text('mergedSum', ({ record }) => record.mergedSum),
  numeric('dateAdd', 'date', ({ record }) => record.dateAdd),
  numeric('lastKeepAlive', 'date', ({ lastKeepAlive }) => lastKeepAlive),
  numeric('disconnection_time', 'date', ({ record }) => record.disconnectionTime || undefined),
];

/** In the order in which items show them. */
export const AGENT_FIELDS: ReadonlyMap<string, AgentField> = new Map(ALL_FIELDS.map((field) => [field.name, field]));

const FIELD_NAMES = [...AGENT_FIELDS.keys()];

/**
 * Fields of `select` or `sort`.
 * @throws QueryError with the API's code and text
 */
export function agentFields(names: readonly string[], code: 1403 | 1724): AgentField[] {
  requireFields(names, FIELD_NAMES, code);
  return names.flatMap((name) => AGENT_FIELDS.get(name) ?? []);
}

/** A value as items show it: dates with their offset, agent ids padded, everything else as it is. */
export function shownValue(field: AgentField, row: AgentRow): unknown {
  if (field.name === 'id') return row.idText;
  const value = field.read(row);
  return field.kind === 'date' && typeof value === 'number' ? isoSeconds(value) : value;
}

/** `2024-05-26T12:40:08+00:00` */
export function isoSeconds(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}+00:00`;
}
