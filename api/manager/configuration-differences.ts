import { ConfigError } from '../../lib/config/config-error.js';
import { INTERNAL_OPTIONS, type InternalOptionName } from '../../lib/config/internal-option-table.js';
import { loadInternalOptions } from '../../lib/config/internal-options.js';
import { API_YAML, parseApiConfig } from '../../lib/config/load-api-config.js';
import { loadManagerConfig, parseManagerConfig } from '../../lib/config/load-manager-config.js';
import { SECTION_NAMES, type SectionName } from '../../lib/config/manager-config.js';
import { MASK } from '../../lib/config/render-raw-configuration.js';
import { SECRET_OPTIONS } from '../../lib/config/secret-options.js';
import type { Home } from '../../lib/home/home.js';
import { isObject } from '../../lib/json/is-object.js';

/** An option whose value is not the one that counts where nothing is said. */
export type ConfigurationDifference = {
  /** Where it can be changed. */
  readonly source: string;
  /** Section and option, with dots: `global.logall`, `analysisd.log_fw`, `logs.level`. */
  readonly option: string;
  /** As daemons take it: times in seconds, sizes in bytes. Absent where there is none. */
  readonly value?: unknown;
  readonly default?: unknown;
};

/** Members that are secrets wherever they stand. */
const SECRETS = new Set(['key', ...SECRET_OPTIONS]);
/** A configuration without a word. */
const NOTHING = '<manager_config></manager_config>';

/**
 * Where the configuration of a home differs from what counts without any: main configuration, internal options, api.yaml.
 * @param apiConfig effective api.yaml
 * @param secrets false masks them: the caller may not change the configuration
 * @throws ConfigError for files that cannot be read
 */
export function configurationDifferences(home: Home, apiConfig: object, secrets: boolean): ConfigurationDifference[] {
  const { file, ...config } = loadManagerConfig(home);
  const defaults = parseManagerConfig(NOTHING, file);
  const found: ConfigurationDifference[] = [];
  for (const name of SECTION_NAMES) {
    const initial = defaults[name] ?? valuesOfEmpty(name, file);
    const before = found.length;
    compare(found, file, name, config[name], config[name] === undefined ? undefined : initial);
    // A section that is there switches something on, even where it says nothing.
    const isOptional = defaults[name] === undefined && config[name] !== undefined;
    if (isOptional && found.length === before) found.push({ source: file, option: name, value: {} });
  }
  const options = loadInternalOptions(home);
  for (const name of Object.keys(INTERNAL_OPTIONS) as InternalOptionName[]) {
    compare(found, 'etc/local_internal_options.conf', name, options.get(name), INTERNAL_OPTIONS[name].initial);
  }
  compareMembers(found, API_YAML, '', apiConfig, parseApiConfig('', API_YAML).config);
  return secrets ? found : found.map(masked);
}

/** What an optional section has where it is written without a word; undefined where it needs some. */
function valuesOfEmpty(name: SectionName, file: string): unknown {
  try {
    return parseManagerConfig(`<manager_config><${name}></${name}></manager_config>`, file, [name])[name];
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Goes into objects; lists are compared as a whole. */
function compare(found: ConfigurationDifference[], source: string, option: string, value: unknown, initial: unknown) {
  if (isPlain(value) && (isPlain(initial) || initial === undefined)) {
    compareMembers(found, source, `${option}.`, value, initial ?? {});
    return;
  }
  const [shownValue, shownDefault] = [shown(value), shown(initial)];
  if (isEmptyList(shownValue) && shownDefault === undefined) return;
  if (JSON.stringify(shownValue) === JSON.stringify(shownDefault)) return;
  found.push({
    source,
    option,
    ...(shownValue === undefined ? {} : { value: shownValue }),
    ...(shownDefault === undefined ? {} : { default: shownDefault }),
  });
}

function compareMembers(
  found: ConfigurationDifference[],
  source: string,
  before: string,
  value: object,
  initial: object,
) {
  const [values, defaults] = [new Map(Object.entries(value)), new Map(Object.entries(initial))];
  for (const name of new Set([...values.keys(), ...defaults.keys()])) {
    compare(found, source, before + name, values.get(name), defaults.get(name));
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isElement(value) && !(value instanceof Map) && !(value instanceof Set);
}

/** Parts of the file that nobody reads further are shown as their names. */
function isElement(value: object): value is { readonly name: string } {
  return 'innerStart' in value && 'name' in value;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** A value as JSON has it. */
function shown(value: unknown): unknown {
  if (value instanceof Set) return [...value].map(shown);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [String(key), shown(one)]));
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'function') return undefined;
  if (!isObject(value)) return value;
  if (isElement(value)) return value.name;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
}

function masked(difference: ConfigurationDifference): ConfigurationDifference {
  const isSecret = SECRETS.has(difference.option.split('.').at(-1) ?? '');
  const hide = (value: unknown): unknown => (isSecret ? MASK : hideMembers(value));
  return {
    ...difference,
    ...('value' in difference ? { value: hide(difference.value) } : {}),
    ...('default' in difference ? { default: hide(difference.default) } : {}),
  };
}

function hideMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, one]) => [name, SECRETS.has(name) ? MASK : hideMembers(one)]));
}
