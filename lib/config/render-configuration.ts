import type { XmlElement } from '../xml/xml-element.js';
import { ConfigError } from './config-error.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import { childName, type RenderedOption, renderOption } from './render-option.js';
import { MASK } from './render-raw-configuration.js';
import { SECRET_OPTIONS } from './secret-options.js';

/** A section as the API shows it: one object, or one object a block. */
export type RenderedSection = RenderedObject | RenderedObject[];
/** Options of a section or block by name. */
export type RenderedObject = Record<string, RenderedOption>;
/** Sections by name, in the order of the file. */
export type RenderedConfiguration = Record<string, RenderedSection>;

/** What a caller of `GET /manager/configuration` asks for. */
export type ConfigurationView = {
  readonly section?: string | undefined;
  readonly field?: string | undefined;
  /** Removes duplicates from the directory lists of `ruleset`. */
  readonly distinct?: boolean | undefined;
  /** Shows secrets: the caller may change the configuration. */
  readonly secrets: boolean;
};

/** Codes of the API (daemons-and-config.md 1.3, 13). */
const ERROR_TEXTS = {
  1101: 'Requested component does not exist',
  1102: 'Invalid section',
  1103: 'Invalid field in section',
  1106: 'Requested section not present in configuration',
} as const;

/** A view that cannot be given. */
export class ConfigurationViewError extends Error {
  override readonly name = 'ConfigurationViewError';
  readonly code: keyof typeof ERROR_TEXTS;

  constructor(code: keyof typeof ERROR_TEXTS, detail?: string) {
    super(detail === undefined ? ERROR_TEXTS[code] : `${ERROR_TEXTS[code]}: ${detail}`);
    this.code = code;
  }
}

/** How several blocks of a section become one value. */
type SectionKind = 'duplicate' | 'merge' | 'last';

/** Sections not named here are never shown. */
const SECTION_KINDS: ReadonlyMap<string, SectionKind> = new Map([
  ...['active-response', 'command', 'agentless', 'localfile', 'remote', 'syslog_output', 'integration', 'labels'].map(
    (name) => [name, 'duplicate'] as const,
  ),
  ...[
    'global',
    'alerts',
    'client',
    'email_alerts',
    'reports',
    'auth',
    'syscheck',
    'rootcheck',
    'ruleset',
    'journal',
    'analysis',
    'alert_store',
    'sca',
    'syscollector',
    'osquery',
    'open-scap',
    'cis-cat',
  ].map((name) => [name, 'merge'] as const),
  ...['cluster', 'vulnerability-detection', 'indexer', 'anti_tampering'].map((name) => [name, 'last'] as const),
]);

/** Sections of agents that a manager does not show; the others of theirs are merged, a module without a name is none. */
const SHARED_KINDS: ReadonlyMap<string, SectionKind> = new Map([['socket', 'duplicate']]);

/** Options shown as arrays even when there is one. */
const LIST_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['global', ['white_list']],
  ['email_alerts', ['email_to']],
  ['reports', ['email_to']],
  ['localfile', ['filter', 'ignore']],
  ['labels', ['label']],
  ['ruleset', ['include', 'rule', 'rule_dir', 'decoder', 'decoder_dir', 'list', 'rule_exclude', 'decoder_exclude']],
  ['syscheck', ['directories', 'ignore', 'nodiff']],
  [
    'rootcheck',
    ['rootkit_files', 'rootkit_trojans', 'windows_audit', 'system_audit', 'windows_apps', 'windows_malware'],
  ],
  ['open-scap', ['content']],
  ['cis-cat', ['content']],
  ['osquery', ['pack']],
  ['sca', ['policies']],
  ['cluster', ['nodes']],
  ['indexer', ['hosts']],
]);

/**
 * The configuration as `GET /manager/configuration` shows it: all text, by the rules of daemons-and-config.md 1.4.
 *
 * @param text of the file
 * @param file its name, for errors
 * @param warn is told of sections of which only the last block is shown
 * @throws ConfigurationViewError 1101 when the text is no XML, 1102, 1103, 1106
 */
export function renderConfiguration(
  text: string,
  file: string,
  view: ConfigurationView,
  warn: (message: string) => void = () => {},
): RenderedConfiguration {
  const all = renderAll(parse(text, file), warn);
  if (view.distinct === true) {
    removeDuplicates(all);
  }
  if (!view.secrets) {
    maskSecrets(all);
  }
  return view.section === undefined ? all : select(all, view.section.toLowerCase(), view.field);
}

function parse(text: string, file: string): XmlElement[] {
  try {
    return readConfigurationXml(text, file);
  } catch (error) {
    if (error instanceof ConfigError) {
      throw new ConfigurationViewError(1101, error.text);
    }
    throw error;
  }
}

function renderAll(roots: readonly XmlElement[], warn: (message: string) => void): RenderedConfiguration {
  // Names come from the file: a prototype would let one of them be more than a name.
  const all = Object.create(null) as RenderedConfiguration;
  for (const root of roots) {
    for (const block of root.children) addSection(all, block, (section) => SECTION_KINDS.get(section), warn);
  }
  return all;
}

/**
 * Adds the sections of one block of agent.conf to those shown so far, which have the same filters. Unlike in the main
 * configuration every section is shown: agents know some that a manager does not have (rest-api.md 6.3).
 */
export function addSharedSections(all: RenderedConfiguration, blocks: readonly XmlElement[]): void {
  const kindOf = (section: string) => SECTION_KINDS.get(section) ?? SHARED_KINDS.get(section) ?? 'merge';
  const ignore = () => {};
  for (const block of blocks) if (sectionOf(block) !== '') addSection(all, block, kindOf, ignore);
}

function addSection(
  all: RenderedConfiguration,
  block: XmlElement,
  kindOf: (section: string) => SectionKind | undefined,
  warn: (message: string) => void,
): void {
  const section = sectionOf(block);
  const kind = kindOf(section);
  const existing = all[section];
  if (kind === undefined) return;
  if (kind === 'duplicate') {
    const blocks = Array.isArray(existing) ? existing : [];
    blocks.push(renderBlock(section, block));
    all[section] = blocks;
  } else if (kind === 'merge' && existing !== undefined && !Array.isArray(existing)) {
    renderBlock(section, block, existing);
  } else {
    if (existing !== undefined) {
      warn(`There are multiple ${section} sections in configuration. Using only last section.`);
    }
    all[section] = renderBlock(section, block);
  }
}

/** A module's block is the section of the module's name; `wodle name="command"` therefore joins `<command>`. */
function sectionOf(block: XmlElement): string {
  const name = block.name.toLowerCase();
  if (name !== 'wodle') {
    return name;
  }
  return block.attributes.find((attribute) => attribute.name.toLowerCase() === 'name')?.value.toLowerCase() ?? '';
}

/** @param into the section so far, when blocks are merged */
function renderBlock(
  section: string,
  block: XmlElement,
  into: RenderedObject = Object.create(null) as RenderedObject,
): RenderedObject {
  for (const option of block.children) {
    const name = childName(option);
    const value = renderOption(section, option);
    if (value === undefined) {
      continue;
    }
    if (LIST_OPTIONS.get(section)?.includes(name) === true) {
      const existing = into[name];
      const items = Array.isArray(value) ? value : [value];
      if (Array.isArray(existing)) {
        for (const item of items) existing.push(item);
      } else {
        into[name] = items;
      }
    } else {
      // The last one wins, and stands where the first stood.
      into[name] = value;
    }
  }
  return into;
}

function select(all: RenderedConfiguration, section: string, field: string | undefined): RenderedConfiguration {
  if (!SECTION_KINDS.has(section)) {
    throw new ConfigurationViewError(1102);
  }
  const value = all[section];
  if (value === undefined) {
    throw new ConfigurationViewError(1106, section);
  }
  if (field === undefined) {
    return { [section]: value };
  }
  const pick = (block: RenderedObject): RenderedObject => {
    const found = block[field];
    if (found === undefined) {
      throw new ConfigurationViewError(1103);
    }
    const result = Object.create(null) as RenderedObject;
    result[field] = found;
    return result;
  };
  return { [section]: Array.isArray(value) ? value.map(pick) : pick(value) };
}

function removeDuplicates(all: RenderedConfiguration): void {
  const ruleset = all['ruleset'];
  if (ruleset === undefined || Array.isArray(ruleset)) {
    return;
  }
  for (const name of ['rule_dir', 'decoder_dir']) {
    const directories = ruleset[name];
    if (Array.isArray(directories)) {
      const seen = new Set<string>();
      ruleset[name] = directories.filter((item) => {
        const key = JSON.stringify(item);
        const first = !seen.has(key);
        seen.add(key);
        return first;
      });
    }
  }
}

/** The reference masks cluster.key and authd.pass; further secrets are masked here as well (1.3 allows it). */
function maskSecrets(all: RenderedConfiguration): void {
  const mask = (section: RenderedSection | undefined, ...names: string[]): void => {
    for (const block of section === undefined ? [] : Array.isArray(section) ? section : [section]) {
      for (const name of names) {
        if (block[name] !== undefined) {
          block[name] = MASK;
        }
      }
    }
  };
  mask(all['cluster'], 'key');
  mask(all['integration'], ...SECRET_OPTIONS);
  const cluster = all['cluster'];
  const helper = cluster === undefined || Array.isArray(cluster) ? undefined : cluster['haproxy_helper'];
  if (typeof helper === 'object' && !Array.isArray(helper)) {
    mask(helper, ...SECRET_OPTIONS);
  }
}
