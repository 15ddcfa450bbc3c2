import type { Home } from '../home/home.js';
import type { ConfigWarning } from './config-error.js';
import { readConfigurationFile } from './configuration-file.js';
import { type ManagerConfig, SECTION_NAMES, type SectionName } from './manager-config.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import { readSection, type SectionBlocks, sectionBlocks } from './section-blocks.js';

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
  return readSections(sectionBlocks(readConfigurationXml(text, file), file), file, sections, fileWarnings);
}

/**
 * Reads the sections asked for.
 * @param file the main configuration
 * @throws ConfigError
 */
export function readSections<S extends SectionName>(
  blocksByName: SectionBlocks,
  file: string,
  sections: readonly S[],
  fileWarnings: readonly ConfigWarning[],
): ManagerConfig<S> {
  const warnings = [...fileWarnings];
  const config: Record<string, unknown> = { file, warnings };
  for (const name of sections) {
    config[name] = readSection(name, blocksByName, file, warnings);
  }
  return config as ManagerConfig<S>;
}
