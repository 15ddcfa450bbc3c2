import { existsSync } from 'node:fs';
import type { Home } from '../home/home.js';
import { ConfigError, type ConfigWarning } from './config-error.js';
import { readSettings } from './configuration-file.js';
import {
  INTERNAL_OPTIONS,
  type InternalOptionArea,
  type InternalOptionName,
  type InternalOptionRange,
  type InternalOptionsOf,
  isAllowed,
} from './internal-option-table.js';
import { parseDigits } from './units.js';

/** Values that stay over an update of the product: the user's file comes first. */
export const INTERNAL_OPTION_FILES = ['etc/local_internal_options.conf', 'etc/internal_options.conf'] as const;

/** Largest file read; the shipped one has some ten kilobytes. */
const MAX_BYTES = 1_048_576;

type Definition = { readonly value: string; readonly file: string; readonly line: number };

/** The internal options of some areas, read once at start. */
export class InternalOptions<A extends InternalOptionArea = InternalOptionArea> {
  readonly warnings: readonly ConfigWarning[];
  readonly #values: ReadonlyMap<InternalOptionName, number>;

  constructor(values: ReadonlyMap<InternalOptionName, number>, warnings: readonly ConfigWarning[]) {
    this.#values = values;
    this.warnings = warnings;
  }

  /** `options.get('monitord.day_wait')` */
  get(name: InternalOptionsOf<A>): number {
    const value = this.#values.get(name);
    if (value === undefined) {
      throw new TypeError(`internal option ${name} was not asked for at start`);
    }
    return value;
  }
}

/**
 * Reads internal options: `section.name=integer` lines, `#` comments, first etc/local_internal_options.conf, then
 * etc/internal_options.conf; in one file the first definition counts (daemons-and-config.md 2).
 *
 * @param areas those the caller uses; wrong values of others are not looked at. All by default
 * @throws ConfigError (2301) for an option that neither file defines, (2302) for a wrong value
 */
export function loadInternalOptions<A extends InternalOptionArea = InternalOptionArea>(
  home: Home,
  areas?: readonly A[],
): InternalOptions<A> {
  const warnings: ConfigWarning[] = [];
  const definitions = readFiles(home, warnings);
  const values = new Map<InternalOptionName, number>();
  for (const name of Object.keys(INTERNAL_OPTIONS) as InternalOptionName[]) {
    if (areas === undefined || areas.some((area) => name.startsWith(`${area}.`))) {
      values.set(name, valueOf(name, definitions.get(name)));
    }
  }
  return new InternalOptions<A>(values, warnings);
}

/**
 * Reads one internal option, for whoever uses no other of its area.
 * @throws ConfigError as `loadInternalOptions`
 */
export function loadInternalOption(home: Home, name: InternalOptionName): number {
  return valueOf(name, readFiles(home, []).get(name));
}

function readFiles(home: Home, warnings: ConfigWarning[]): Map<string, Definition> {
  const definitions = new Map<string, Definition>();
  for (const file of INTERNAL_OPTION_FILES) {
    // Both may be absent: then the first option asked for is the error.
    if (existsSync(home.path(file))) {
      readDefinitions(readSettings(home, file, MAX_BYTES).toString('utf8'), file, definitions, warnings);
    }
  }
  return definitions;
}

function readDefinitions(
  text: string,
  file: string,
  definitions: Map<string, Definition>,
  warnings: ConfigWarning[],
): void {
  const seen = new Set<string>();
  for (const [index, raw] of text.split('\n').entries()) {
    const content = raw.trim();
    const line = index + 1;
    if (content === '' || content.startsWith('#')) {
      continue;
    }
    const equals = content.indexOf('=');
    const name = content.slice(0, Math.max(equals, 0));
    if (!Object.hasOwn(INTERNAL_OPTIONS, name)) {
      // Not an error: a file of another version may have options this one does not know.
      warnings.push({ file, line, section: '', text: `Internal option not known: '${content.slice(0, 100)}'.` });
    } else if (seen.has(name)) {
      warnings.push({ file, line, section: '', text: `Internal option '${name}' is defined twice; the first counts.` });
    } else {
      seen.add(name);
      if (!definitions.has(name)) {
        definitions.set(name, { value: content.slice(equals + 1), file, line });
      }
    }
  }
}

function valueOf(name: InternalOptionName, definition: Definition | undefined): number {
  const { initial, min, ours }: InternalOptionRange = INTERNAL_OPTIONS[name];
  if (definition === undefined) {
    if (ours === true) return initial;
    const place = { file: 'etc/internal_options.conf', line: 0 };
    throw new ConfigError(2301, `Definition not found for: '${name}'.`, place, name);
  }
  const { value } = definition;
  const number = parseDigits(value, min < 0);
  if (number === undefined || !isAllowed(name, number)) {
    throw new ConfigError(2302, `Invalid definition for ${name}: '${value}'.`, definition, name);
  }
  return number;
}
