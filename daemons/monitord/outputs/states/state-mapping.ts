import { isObject } from '../../../../lib/json/is-object.js';
import { field, type FieldType, mapped, type StateField } from './state-field.js';
import type { StateTable } from './state-tables.js';

/** A field of a mapping, or an object of such. */
export type Mapping = {
  type?: string;
  ignore_above?: number;
  scaling_factor?: number;
  properties?: Record<string, Mapping>;
};

/** Names of types that a server does not have, each with what takes its place. */
export type TypeFallbacks = ReadonlyMap<string, string>;

/** What older servers have in place of newer types (indexer.md 3.12). */
export const OLDER_TYPES: TypeFallbacks = new Map([
  ['match_only_text', 'text'],
  ['unsigned_long', 'long'],
]);

/** Longer keywords are kept and not searched, characters. */
const IGNORE_ABOVE = 1024;
/** A fraction has two digits. */
const SCALING_FACTOR = 100;

/** Fields that documents of all tables have (indexer.md 3.1). */
const COMMON: readonly StateField[] = [
  ...mapped('keyword', 'agent.id agent.name agent.version agent.host.architecture'),
  field('agent.host.ip', 'ip'),
  ...mapped('keyword', 'wazuh.cluster.name wazuh.cluster.node wazuh.schema.version'),
];

/** The mapping of an index: what is not in it is refused (indexer.md 3.1). */
export function stateMapping(
  { fields }: StateTable,
  fallbacks: TypeFallbacks = new Map(),
): Required<Pick<Mapping, 'properties'>> & Record<string, unknown> {
  const properties: Record<string, Mapping> = {};
  for (const { path, type } of [...COMMON, ...fields]) {
    let at = properties;
    for (const name of path.slice(0, -1)) at = (at[name] ??= {}).properties ??= {};
    at[path.at(-1) ?? ''] = mappingOf(type, fallbacks);
  }
  return { dynamic: 'strict', date_detection: false, properties };
}

function mappingOf(type: FieldType, fallbacks: TypeFallbacks): Mapping {
  switch (type) {
    case 'keyword':
      return { type, ignore_above: IGNORE_ABOVE };
    case 'whole_keyword':
      return { type: 'keyword' };
    case 'scaled_float':
      return { type, scaling_factor: SCALING_FACTOR };
    case 'match_only_text':
    case 'date':
    case 'ip':
    case 'boolean':
    case 'short':
    case 'integer':
    case 'long':
    case 'unsigned_long':
      return { type: fallbacks.get(type) ?? type };
  }
}

/** Settings of an index (indexer.md 4.5). */
function stateSettings({ fields }: StateTable): Record<string, unknown> {
  const searched = [...COMMON, ...fields].filter(({ type }) => /keyword|text/.test(type));
  return {
    index: {
      number_of_shards: 1,
      number_of_replicas: 0,
      refresh_interval: '2s',
      'query.default_field': searched.map(({ path }) => path.join('.')),
    },
  };
}

/** What an index is made with. */
export function stateIndex(table: StateTable, fallbacks?: TypeFallbacks): Record<string, unknown> {
  return { settings: stateSettings(table), mappings: stateMapping(table, fallbacks) };
}

/** The template of an index, of our own making (indexer.md 4.5, step 1). */
export function stateTemplate(table: StateTable, fallbacks?: TypeFallbacks): Record<string, unknown> {
  return {
    index_patterns: [`wazuh-states-inventory-${table.kind}*`],
    priority: 1,
    template: stateIndex(table, fallbacks),
  };
}

/** How the mapping of an index that is there differs from ours. */
export type MappingDifference = {
  /** Fields that it lacks, as properties of a mapping. */
  readonly missing: Record<string, Mapping>;
  /** Paths of fields that have another type: documents may be refused for them. */
  readonly conflicts: readonly string[];
};

/** Compares properties of mappings by the types of fields; how they are searched is the site's own choice. */
export function compareMappings(
  ours: Readonly<Record<string, Mapping>>,
  theirs: unknown,
  path = '',
): MappingDifference {
  const missing: Record<string, Mapping> = {};
  const conflicts: string[] = [];
  const there = isObject(theirs) ? theirs : {};
  for (const [name, wanted] of Object.entries(ours)) {
    const at = path + name;
    const found = Object.hasOwn(there, name) ? there[name] : undefined;
    if (found === undefined) {
      missing[name] = wanted;
    } else if (wanted.properties === undefined) {
      const type = isObject(found) ? found['type'] : undefined;
      if (type !== wanted.type && type !== OLDER_TYPES.get(wanted.type ?? '')) conflicts.push(at);
    } else if (!isObject(found) || found['properties'] === undefined) {
      conflicts.push(at);
    } else {
      const inner = compareMappings(wanted.properties, found['properties'], `${at}.`);
      if (Object.keys(inner.missing).length > 0) missing[name] = { properties: inner.missing };
      conflicts.push(...inner.conflicts);
    }
  }
  return { missing, conflicts };
}
