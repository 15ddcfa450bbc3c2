import { compilePattern } from '../patterns/compile-pattern.js';
import { MatchContext, type PatternLanguage } from '../patterns/matcher.js';
import { attributeValue, type XmlElement } from '../xml/xml-element.js';
import { ConfigError, type ConfigWarning } from './config-error.js';
import { ConfigReport } from './config-report.js';
import type { Field } from './field.js';
import { isSectionName, type SectionName, SECTIONS } from './manager-config.js';
import { byteString, patternProblem } from './pattern-text.js';
import { readConfigurationXml } from './read-configuration-xml.js';

/** Root element of agent.conf; a file may have any number of them (agents-and-groups.md 7.1). */
const ROOT = 'agent_config';

/** Attributes that tell which agents a block is for. */
const FILTERS = ['name', 'os', 'profile'] as const;

/** Languages of the filters; the first is meant where a block does not say. */
const LANGUAGES: readonly PatternLanguage[] = ['osmatch', 'osregex', 'pcre2'];

/** Attributes of an `agent_config` beside the filters. `overwrite` has no effect. */
const OTHER_ATTRIBUTES = ['overwrite', 'type'];

/**
 * Steps that all filters of one file may take on one agent. A file of patterns that backtrack without end must not hold
 * the agent up.
 */
const FILTER_STEPS = 1_000_000;

/** What the filters are compared with (agents-and-groups.md 7.1). */
export type AgentIdentityText = {
  /** Undefined as long as the agent has no key. */
  readonly name: string | undefined;
  /** First line of the keepalive without its mark and the sum: `Linux |web |... - Wazuh v4.14.7`. */
  readonly os: string;
  /** The whole `client/config-profile`; undefined or empty where there is none. */
  readonly profile: string | undefined;
};

/** One `agent_config`. */
export type AgentConfBlock = {
  readonly filters: {
    readonly name?: string;
    readonly os?: string;
    readonly profile?: string;
    readonly type: PatternLanguage;
  };
  /** The whole block; its children are the sections. */
  readonly element: XmlElement;
};

/** Why an agent.conf may not be distributed or taken. */
export type AgentConfFailure = {
  /** The check that failed, in the words of verify-agent-conf. */
  readonly check: AgentConfCheck;
  /** The same as agents report it (agents-and-groups.md 6.9). */
  readonly section: string;
  /** What is wrong, with file and line. */
  readonly error: ConfigError;
  /** What verify-agent-conf says on its error stream, each without date, program and level (agents-and-groups.md 9.1). */
  readonly lines: readonly string[];
};

/** Name of a check. */
export type AgentConfCheck = 'Syscheck' | 'Rootcheck' | 'Localfile' | 'Client' | 'ClientBuffer' | 'WModule' | 'Labels';

/** A check and the sections it reads. */
type Check = {
  readonly check: AgentConfCheck;
  readonly section: SectionName;
  readonly reads: readonly SectionName[];
};

/** In their order. */
const CHECKS: readonly Check[] = [
  { check: 'Syscheck', section: 'syscheck', reads: ['syscheck'] },
  { check: 'Rootcheck', section: 'rootcheck', reads: ['rootcheck'] },
  { check: 'Localfile', section: 'localfile', reads: ['localfile', 'socket'] },
  { check: 'Client', section: 'client', reads: ['client'] },
  { check: 'ClientBuffer', section: 'client_buffer', reads: ['client_buffer'] },
  {
    check: 'WModule',
    section: 'wodle',
    reads: ['wodle', 'sca', 'gcp-pubsub', 'gcp-bucket', 'github', 'office365', 'ms-graph', 'fluent-forward'],
  },
  { check: 'Labels', section: 'labels', reads: ['labels'] },
];

/** The sections an agent takes from its manager (agents-and-groups.md 7.2). */
export const SHARED_SECTIONS: ReadonlySet<SectionName> = new Set(CHECKS.flatMap(({ reads }) => reads));

/** Sections that agent.conf may have without any effect, and that stock files have: nothing is said about them. */
const QUIETLY_IGNORED: readonly SectionName[] = ['active-response', 'agent-upgrade'];

/** Elements of `<client>` an agent takes from its manager: never the address of another one. */
const SHARED_CLIENT_ELEMENTS = ['force_reconnect_interval'];

/**
 * Reads an agent.conf. Sections are looked at by `checkAgentConf` and by those who use them.
 *
 * @param file name for errors
 * @param warnings gets attributes nobody knows (1233): they are no reason to refuse the file
 * @throws ConfigError with file and line: no XML (1226), another root than agent_config (1230), a filter that is no pattern
 */
export function parseAgentConf(text: string, file: string, warnings: ConfigWarning[]): AgentConfBlock[] {
  const report = new ConfigReport(file, '', warnings);
  return readConfigurationXml(text, file).map((root) => readBlock(root, report));
}

/**
 * Whether an agent.conf may be distributed by a manager and taken by an agent: every block is looked at, whatever its
 * filters, and the first check that fails ends it (agents-and-groups.md 6.9, 9.1).
 *
 * @param file name in the messages
 * @param warnings gets what is no reason to refuse the file
 */
export function checkAgentConf(
  text: string,
  file: string,
  warnings: ConfigWarning[] = [],
): AgentConfFailure | undefined {
  let roots: readonly XmlElement[] | undefined;
  for (const each of CHECKS) {
    let root: XmlElement | undefined;
    try {
      roots ??= readConfigurationXml(text, file);
      for (root of roots) checkBlock(root, each, file, warnings);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const corrupted = `(1207): ${each.check} remote configuration in '${file}' is corrupted.`;
      // Told of what is inside a block, not of another root or of what is no XML.
      const inBlock = root?.name === ROOT ? [`(1202): Configuration error at '${file}'.`] : [];
      const lines = [error.text, ...inBlock, corrupted];
      return { check: each.check, section: each.section, error, lines };
    }
  }
  return undefined;
}

/**
 * The `agent_config` elements that are for this agent, in their order. A block is for it when all its filters match; one
 * that asks for something the agent does not have is not (agents-and-groups.md 7.1).
 *
 * @param report told of a filter that took too long; its block is left out
 */
export function selectBlocks(
  blocks: readonly AgentConfBlock[],
  identity: AgentIdentityText,
  report?: ConfigReport,
): XmlElement[] {
  const context = new MatchContext();
  context.stepsLeft = FILTER_STEPS;
  return blocks
    .filter(({ filters, element }) =>
      FILTERS.every((filter) => {
        const pattern = filters[filter];
        if (pattern === undefined) return true;
        const subject = identity[filter];
        if (subject === undefined || subject === '') return false;
        const matches = compilePattern(filters.type, byteString(pattern)).test(byteString(subject), context);
        if (context.exhausted) {
          context.exhausted = false;
          report?.warn(element, `Filter '${filter}' takes too many steps; the block is left out.`);
          return false;
        }
        return matches;
      }),
    )
    .map(({ element }) => element);
}

/** Whether an element of `<client>` may come from the manager. */
export function isSharedClientElement(name: string): boolean {
  return SHARED_CLIENT_ELEMENTS.includes(name);
}

/** Warns of a section that no agent takes from its manager. */
export function reportNotShared(name: SectionName, block: XmlElement, report: ConfigReport): void {
  if (!SHARED_SECTIONS.has(name) && !QUIETLY_IGNORED.includes(name)) {
    report.warn(block, `Section '${name}' is not taken from the manager; it is ignored.`);
  }
}

function readBlock(element: XmlElement, report: ConfigReport): AgentConfBlock {
  if (element.name !== ROOT) throw report.unknownElement(element);
  const type = attributeValue(element, 'type') ?? 'osmatch';
  const language = LANGUAGES.find((known) => known === type);
  if (language === undefined) throw report.invalidAttribute(element, type);
  const filters: Partial<Record<(typeof FILTERS)[number], string>> = {};
  for (const { name, value } of element.attributes) {
    const filter = FILTERS.find((known) => known === name);
    if (filter !== undefined) {
      const problem = patternProblem(language, value);
      if (problem !== undefined) {
        const text = `Invalid attribute '${value}' in the configuration: '${element.name}': ${problem}.`;
        throw report.error(element, 1233, text);
      }
      filters[filter] = value;
    } else if (!OTHER_ATTRIBUTES.includes(name)) {
      const text = `(1233): Invalid attribute '${name}' in the configuration: '${report.file}'.`;
      report.warn(element, text, { level: 'error', exact: true });
    }
  }
  return { filters: { ...filters, type: language }, element };
}

/**
 * Reads the sections of one check, each by itself: blocks with different filters do not meet on an agent. What concerns
 * the block as a whole is the first check's.
 */
function checkBlock(root: XmlElement, { check, reads }: Check, file: string, warnings: ConfigWarning[]): void {
  if (check === 'Syscheck') readBlock(root, new ConfigReport(file, '', warnings));
  for (const block of root.children) {
    const { name } = block;
    const report = new ConfigReport(file, name, warnings, { shared: true });
    if (!isSectionName(name)) throw report.unknownElement(block);
    if (check === 'Syscheck') reportNotShared(name, block, report);
    if (!reads.includes(name)) continue;
    if (name === 'client') {
      const wrong = block.children.find((child) => !isSharedClientElement(child.name));
      if (wrong !== undefined) throw report.unknownElement(wrong);
    }
    const field: Field<unknown> = SECTIONS[name];
    field.fold(field.initial, block, report);
  }
}
