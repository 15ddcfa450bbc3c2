import type { XmlElement } from '../xml/xml-element.js';
import type { ConfigWarning } from './config-error.js';
import { ConfigReport } from './config-report.js';
import type { Field } from './field.js';
import { isSectionName, type ManagerSections, type SectionName, SECTIONS } from './manager-config.js';
import { type CommandConfig, finishActiveResponses, type RawActiveResponse } from './sections/active-response.js';
import { finishJournal } from './sections/journal.js';
import { finishAuth } from './sections/remote.js';
import { withDefaultDirectories } from './sections/ruleset.js';

/** Root elements of the main configuration; the second is what existing installations have (product.md 10). */
const ROOTS = ['manager_config', 'ossec_config'];

/** A block of a section and where it stands. */
export type SectionBlock = {
  readonly element: XmlElement;
  /** Relative to the home. */
  readonly file: string;
  /** Whether a manager pushed it. */
  readonly shared: boolean;
};

/** Blocks by section, in the order in which they are read. */
export type SectionBlocks = ReadonlyMap<SectionName, readonly SectionBlock[]>;

/** Blocks of all roots of the main configuration. @throws ConfigError (1230) for an unknown root or section */
export function sectionBlocks(roots: readonly XmlElement[], file: string): SectionBlocks {
  const report = new ConfigReport(file, '', []);
  const result = new Map<SectionName, SectionBlock[]>();
  for (const root of roots) {
    if (!ROOTS.includes(root.name)) {
      throw report.unknownElement(root);
    }
    for (const element of root.children) {
      if (!isSectionName(element.name)) {
        throw report.unknownElement(element);
      }
      const block = { element, file, shared: false };
      const blocks = result.get(element.name);
      if (blocks === undefined) {
        result.set(element.name, [block]);
      } else {
        blocks.push(block);
      }
    }
  }
  return result;
}

/**
 * Reads the blocks of one section, one over the other.
 * @param file the main configuration, for what concerns the section as a whole
 * @throws ConfigError with the file and line of the block
 */
export function readSection(
  name: SectionName,
  blocksByName: SectionBlocks,
  file: string,
  warnings: ConfigWarning[],
): ManagerSections[SectionName] {
  const report = new ConfigReport(file, name, warnings);
  const read = <T>(field: Field<T>, blocks: readonly SectionBlock[]): T => {
    let value = field.initial;
    for (const { element, file: place, shared } of blocks) {
      value = field.fold(value, element, new ConfigReport(place, name, warnings, { shared }));
    }
    return value;
  };
  const blocks = blocksByName.get(name) ?? [];
  switch (name) {
    case 'ruleset':
      return withDefaultDirectories(read(SECTIONS.ruleset, blocks));
    case 'auth':
      return finishAuth(read(SECTIONS.auth, blocks));
    case 'journal': {
      const elements = blocks.map(({ element }) => element);
      return finishJournal(read(SECTIONS.journal, blocks), elements, report);
    }
    case 'active-response': {
      const responses: readonly RawActiveResponse[] = read(SECTIONS['active-response'], blocks);
      const commands: readonly CommandConfig[] = read(SECTIONS.command, blocksByName.get('command') ?? []);
      return finishActiveResponses(responses, commands, report);
    }
    default:
      return read(SECTIONS[name] as Field<ManagerSections[SectionName]>, blocks);
  }
}
