import type { Home } from '../daemon/home.js';
import type { XmlElement } from '../xml/xml-element.js';
import { ConfigError, type ConfigWarning } from './config-error.js';
import { ConfigReport } from './config-report.js';
import { readConfigurationFile } from './configuration-file.js';
import type { Field } from './field.js';
import {
  type ManagerConfig,
  type ManagerSections,
  SECTION_NAMES,
  type SectionName,
  SECTIONS,
} from './manager-config.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import { type CommandConfig, finishActiveResponses, type RawActiveResponse } from './sections/active-response.js';
import { finishJournal } from './sections/journal.js';
import { finishAuth } from './sections/remote.js';
import { withDefaultDirectories } from './sections/ruleset.js';

/** Root elements of the main configuration; the second is what existing installations have (product.md 10). */
const ROOTS = ['manager_config', 'ossec_config'];

/**
 * Loads the main configuration: `etc/manager.conf`, or `etc/ossec.conf` where that is absent.
 *
 * Every daemon reads the whole file and takes what it needs: an unreadable file or an unknown section concerns all of
 * them, a wrong value only those that use the section (daemons-and-config.md 1.1, 14.2).
 *
 * @param sections those the caller uses; the others are not looked into. All by default
 * @throws ConfigError with file and line
 */
export function loadManagerConfig<S extends SectionName = SectionName>(
  home: Home,
  sections?: readonly S[],
): ManagerConfig<S> {
  const file = readConfigurationFile(home);
  return parseManagerConfig(file.text, file.name, sections, file.warnings);
}

/**
 * The same from a text.
 * @param file name for errors, relative to the home
 * @throws ConfigError
 */
export function parseManagerConfig<S extends SectionName = SectionName>(
  text: string,
  file: string,
  sections: readonly S[] = SECTION_NAMES as readonly S[],
  fileWarnings: readonly ConfigWarning[] = [],
): ManagerConfig<S> {
  const blocksByName = sectionBlocks(readConfigurationXml(text, file), file);
  const warnings = [...fileWarnings];
  const config: Record<string, unknown> = { file, warnings };
  for (const name of sections) {
    config[name] = readSection(name, blocksByName, file, warnings);
  }
  return config as ManagerConfig<S>;
}

/**
 * Every error of the configuration, one a section at most, without stopping at the first.
 * @returns nothing when the configuration is right
 */
export function checkManagerConfig(home: Home): readonly ConfigError[] {
  let file: ReturnType<typeof readConfigurationFile>;
  let blocksByName: ReadonlyMap<SectionName, readonly XmlElement[]>;
  try {
    file = readConfigurationFile(home);
    blocksByName = sectionBlocks(readConfigurationXml(file.text, file.name), file.name);
  } catch (error) {
    return [asConfigError(error)];
  }
  const errors: ConfigError[] = [];
  for (const name of SECTION_NAMES) {
    try {
      readSection(name, blocksByName, file.name, []);
    } catch (error) {
      errors.push(asConfigError(error));
    }
  }
  return errors.sort((a, b) => a.line - b.line);
}

function asConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) {
    return error;
  }
  throw error;
}

/** Blocks of all roots by section, in file order. @throws ConfigError (1230) for an unknown root or section */
function sectionBlocks(roots: readonly XmlElement[], file: string): ReadonlyMap<SectionName, readonly XmlElement[]> {
  const report = new ConfigReport(file, '', []);
  const result = new Map<SectionName, XmlElement[]>();
  for (const root of roots) {
    if (!ROOTS.includes(root.name)) {
      throw report.unknownElement(root);
    }
    for (const block of root.children) {
      if (!isSectionName(block.name)) {
        throw report.unknownElement(block);
      }
      const blocks = result.get(block.name);
      if (blocks === undefined) {
        result.set(block.name, [block]);
      } else {
        blocks.push(block);
      }
    }
  }
  return result;
}

function isSectionName(name: string): name is SectionName {
  return Object.hasOwn(SECTIONS, name);
}

function readSection(
  name: SectionName,
  blocksByName: ReadonlyMap<SectionName, readonly XmlElement[]>,
  file: string,
  warnings: ConfigWarning[],
): ManagerSections[SectionName] {
  const report = new ConfigReport(file, name, warnings);
  const read = <T>(field: Field<T>, blocks: readonly XmlElement[]): T => {
    let value = field.initial;
    for (const block of blocks) {
      value = field.fold(value, block, report);
    }
    return value;
  };
  const blocks = blocksByName.get(name) ?? [];
  switch (name) {
    case 'ruleset':
      return withDefaultDirectories(read(SECTIONS.ruleset, blocks));
    case 'auth':
      return finishAuth(read(SECTIONS.auth, blocks));
    case 'journal':
      return finishJournal(read(SECTIONS.journal, blocks), blocks, report);
    case 'active-response': {
      const responses: readonly RawActiveResponse[] = read(SECTIONS['active-response'], blocks);
      const commands: readonly CommandConfig[] = read(SECTIONS.command, blocksByName.get('command') ?? []);
      return finishActiveResponses(responses, commands, report);
    }
    default:
      return read(SECTIONS[name] as Field<ManagerSections[SectionName]>, blocks);
  }
}
