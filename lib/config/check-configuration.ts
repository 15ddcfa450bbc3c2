import type { Home } from '../home/home.js';
import type { HomeRole } from '../home/home-record.js';
import type { DaemonName } from '../product/daemon-names.js';
import { ConfigError, type ConfigWarning } from './config-error.js';
import { readConfigurationFile } from './configuration-file.js';
import { ownerOf } from './effects/effect-table.js';
import { findNoEffect, type NoEffect } from './effects/find-no-effect.js';
import { SECTION_NAMES } from './manager-config.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import { readSection, type SectionBlocks, sectionBlocks } from './section-blocks.js';

/** A mistake in the main configuration. */
export type ConfigurationMistake = {
  readonly error: ConfigError;
  /** Who speaks of it in `-t`; undefined for the file as a whole, which all daemons read. */
  readonly owner: DaemonName | undefined;
};

/** What there is to say about the main configuration as a whole. */
export type ConfigurationCheck = {
  /** By line; one a section at most. */
  readonly mistakes: readonly ConfigurationMistake[];
  /** What it asks for and what is not done; nothing of a file that cannot be read. */
  readonly noEffect: readonly NoEffect[];
  /** What is ignored or changed. */
  readonly warnings: readonly ConfigWarning[];
};

/** Looks at every section of the main configuration, also at those that no daemon reads, without stopping at the first mistake. */
export function checkConfiguration(home: Home, role: HomeRole): ConfigurationCheck {
  let file: string;
  let blocks: SectionBlocks;
  const warnings: ConfigWarning[] = [];
  try {
    const read = readConfigurationFile(home);
    file = read.name;
    warnings.push(...read.warnings);
    blocks = sectionBlocks(readConfigurationXml(read.text, file), file);
  } catch (error) {
    return { mistakes: [{ error: asConfigError(error), owner: undefined }], noEffect: [], warnings };
  }
  const mistakes = new Map<string, ConfigurationMistake>();
  for (const name of SECTION_NAMES) {
    try {
      readSection(name, blocks, file, warnings);
    } catch (thrown) {
      const error = asConfigError(thrown);
      // Sections that are read together have their mistakes in common.
      if (!mistakes.has(error.message)) mistakes.set(error.message, { error, owner: ownerOf(role, name) });
    }
  }
  return {
    mistakes: [...mistakes.values()].sort((a, b) => a.error.line - b.error.line),
    noEffect: findNoEffect(blocks, role),
    warnings,
  };
}

function asConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}
