import { statSync } from 'node:fs';
import type { z } from 'zod';
import { ifPresentSync } from '../files/if-present.js';
import { readFileBelow } from '../files/read-below.js';
import type { Home } from '../home/home.js';
import { describeError } from '../log/describe-error.js';
import { API_CONFIG_SCHEMA, type ApiConfig, SECURITY_CONFIG_SCHEMA, type SecurityConfig } from './api-config.js';
import { ConfigError, type ConfigWarning } from './config-error.js';
import { readSettings } from './configuration-file.js';
import { readYaml, type YamlDocument } from './yaml-document.js';
import { YamlError } from './yaml-nodes.js';

/** Configuration of svc-apid, relative to the home. */
export const API_YAML = 'api/configuration/api.yaml';
/** Settings of tokens and permissions, relative to the home. */
export const SECURITY_YAML = 'api/configuration/security/security.yaml';

/** Largest file read: it has some fifty keys. */
const MAX_BYTES = 262_144;

/** Texts that are taken as written; every other is lower-cased (rest-api.md 1.3). */
const VERBATIM = new Set(['https.key', 'https.cert', 'https.ca']);

/** An API configuration that cannot be used: code 2000 for its content, 2004 for a file that cannot be read. */
export class ApiConfigError extends Error {
  override readonly name = 'ApiConfigError';
  readonly code: 2000 | 2004;
  readonly file: string;
  /** First line 1; 0 when the whole file is meant. */
  readonly line: number;
  /** Key that is wrong, with dots: `logs.max_size.size`. */
  readonly key: string | undefined;

  constructor(code: 2000 | 2004, reason: string, file: string, line: number, key?: string) {
    const text =
      code === 2000
        ? `Some parameters are not expected in the configuration file (${file})`
        : `Configuration file could not be loaded (${file})`;
    super(`${String(code)} - ${text}: ${reason}${line > 0 ? ` (line ${String(line)})` : ''}.`);
    this.code = code;
    this.file = file;
    this.line = line;
    this.key = key;
  }
}

/** What api.yaml says, and what of it is old. */
export type LoadedApiConfig = {
  readonly config: ApiConfig;
  /** Of old keys that have no effect. */
  readonly warnings: readonly ConfigWarning[];
};

/**
 * Reads `api/configuration/api.yaml`; an absent or empty file means the defaults (rest-api.md 1.3).
 * @throws ApiConfigError naming key and line
 */
export function loadApiConfig(home: Home): LoadedApiConfig {
  const text = readText(home, API_YAML);
  return parseApiConfig(text ?? '', API_YAML);
}

/** The same from a text. @param file for errors @throws ApiConfigError */
export function parseApiConfig(text: string, file: string): LoadedApiConfig {
  const { value, document } = parse(API_CONFIG_SCHEMA, text, file);
  const warnings: ConfigWarning[] = [];
  const old = (key: string, present: boolean): void => {
    if (present) {
      const line = document.lineOf(key.split('.'));
      warnings.push({ file, line, section: '', text: `Key '${key}' is old and has no effect.` });
    }
  };
  const { use_only_authd, cache, logs, ...rest } = value;
  const { path, ...shownLogs } = logs;
  old('use_only_authd', use_only_authd !== undefined);
  old('logs.path', path !== undefined);
  old('cache.enabled', cache?.enabled !== undefined);
  old('cache.time', cache?.time !== undefined);
  return { config: { ...rest, logs: shownLogs }, warnings };
}

/**
 * Reads `api/configuration/security/security.yaml`; an absent file means the defaults. The API writes it as the service
 * user, and what it says is about tokens of the API alone: root may look at it, but follows no link to it.
 * @throws ApiConfigError
 */
export function loadSecurityConfig(home: Home): SecurityConfig {
  return parse(SECURITY_CONFIG_SCHEMA, readOwnText(home, SECURITY_YAML) ?? '', SECURITY_YAML).value;
}

function readOwnText(home: Home, file: string): string | undefined {
  try {
    return ifPresentSync(() => readFileBelow(home.root, file, MAX_BYTES))?.toString('utf8');
  } catch (error) {
    throw new ApiConfigError(2004, describeError(error), file, 0);
  }
}

function readText(home: Home, file: string): string | undefined {
  if (statSync(home.path(file), { throwIfNoEntry: false }) === undefined) {
    return undefined;
  }
  try {
    return readSettings(home, file, MAX_BYTES).toString('utf8');
  } catch (error) {
    throw error instanceof ConfigError ? new ApiConfigError(2004, error.text, file, 0) : error;
  }
}

function parse<S extends z.ZodType>(
  schema: S,
  text: string,
  file: string,
): { readonly value: z.output<S>; readonly document: YamlDocument } {
  let document: YamlDocument;
  try {
    document = readYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new ApiConfigError(2004, error.message, file, error.line) : error;
  }
  const parsed = schema.safeParse(normalise(document.value, []) ?? {});
  if (parsed.success) {
    return { value: parsed.data, document };
  }
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])];
  const key = path.map(String).join('.');
  const reason =
    unknown === undefined
      ? `${key === '' ? 'the document' : `'${key}'`}: ${issue?.message ?? 'invalid'}`
      : `'${key}' is not known`;
  throw new ApiConfigError(2000, reason, file, document.lineOf(path), key === '' ? undefined : key);
}

/** Lower-cases texts, and leaves out keys without a value: a section whose lines are all comments is absent. */
function normalise(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') {
    return VERBATIM.has(path.join('.')) ? value : value.toLowerCase();
  }
  if (Array.isArray(value)) {
    return value.map((item) => normalise(item, path));
  }
  if (typeof value === 'object' && value !== null) {
    // Entries, not assignment: a key named __proto__ stays a key, and is then refused.
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== null && item !== undefined)
        .map(([key, item]) => [key, normalise(item, [...path, key])]),
    );
  }
  return value;
}
