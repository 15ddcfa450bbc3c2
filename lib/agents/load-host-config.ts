import { type AgentIdentityText, checkAgentConf, parseAgentConf, selectBlocks } from '../config/agent-conf.js';
import { readAgentConfFile } from '../config/agent-conf-file.js';
import { ConfigError, type ConfigWarning } from '../config/config-error.js';
import { ConfigReport } from '../config/config-report.js';
import { readConfigurationFile } from '../config/configuration-file.js';
import { loadInternalOption } from '../config/internal-options.js';
import { lastContent } from '../config/last-content.js';
import { loadManagerConfig, readSections } from '../config/load-manager-config.js';
import { isSectionName, type ManagerConfig, SECTION_NAMES, type SectionName } from '../config/manager-config.js';
import { readConfigurationXml } from '../config/read-configuration-xml.js';
import { type SectionBlock, type SectionBlocks, sectionBlocks } from '../config/section-blocks.js';
import { acceptShared, type RemoteConsent } from '../config/shared-sections.js';
import type { Home } from '../home/home.js';
import { readHomeRecord } from '../home/home-record.js';
import { ownIdentity } from './own-identity.js';

/** What the manager pushed, relative to the home of an agent. */
export const SHARED_AGENT_CONF = 'etc/shared/agent.conf';

/** The last one that was right, kept by svc-agentd, relative to the home of an agent. */
export const LAST_GOOD_AGENT_CONF = 'var/last-good/agent.conf';

/** What became of the shared agent.conf. */
export type SharedState = {
  /**
   * `none`: there is no such file, or this is a server. `off`: `agent.remote_conf` is 0. `refused`: `problem` says why.
   * `kept`: the same, and the last good one is used instead.
   */
  readonly state: 'none' | 'off' | 'used' | 'refused' | 'kept';
  /** With file and line. */
  readonly problem?: string;
};

/** The configuration of a host, and what the manager has to do with it. */
export type HostConfig<S extends SectionName = SectionName> = ManagerConfig<S> & { readonly shared: SharedState };

/** A shared agent.conf that is not right, where another one is in use. */
class SharedConfError extends Error {
  override readonly name = 'SharedConfError';
  readonly code = 'shared_conf';
}

/** What the operator must mend, although the daemon runs; undefined when all is well. */
export function sharedProblem({ state, problem }: SharedState): string | undefined {
  if (problem === undefined) return undefined;
  const instead = state === 'kept' ? 'the last good one stays' : 'only that of this host is';
  return `the shared configuration is not used, ${instead}: ${problem}`;
}

/**
 * For a reload: what runs goes on as it is while the shared agent.conf is broken.
 * @throws SharedConfError naming file and line when the one in use would be lost
 */
export function keepShared(current: SharedState, next: SharedState): void {
  const isLost = next.state === 'refused' && (current.state === 'used' || current.state === 'kept');
  if (isLost) throw new SharedConfError(next.problem ?? `'${SHARED_AGENT_CONF}' is not used`);
}

/**
 * Loads the configuration of a host, whatever its role. On the home of an agent the shared agent.conf is laid over the
 * main configuration: of single values the last counts, lists grow (agents-and-groups.md 7.3). An agent.conf that is not
 * right is left out whole, and `shared` says so; the last good one takes its place, where there is one.
 *
 * @param sections those the caller uses. All by default
 * @param identity what the filters of agent.conf are compared with, when it is not that of this host
 * @throws ConfigError for the main configuration and the internal options, with file and line
 */
export function loadHostConfig<S extends SectionName = SectionName>(
  home: Home,
  sections: readonly S[] = SECTION_NAMES as readonly S[],
  identity?: AgentIdentityText,
): HostConfig<S> {
  if (readHomeRecord(home).role !== 'agent') {
    return { ...loadManagerConfig(home, sections), shared: { state: 'none' } };
  }
  const main = readConfigurationFile(home);
  const local = sectionBlocks(readConfigurationXml(main.text, main.name), main.name);
  const alone = (shared: SharedState): HostConfig<S> => ({
    ...readSections(local, main.name, sections, main.warnings),
    shared,
  });
  if (loadInternalOption(home, 'agent.remote_conf') === 0) return alone({ state: 'off' });
  const allowed = remoteConsent(home, local, sections);
  /** @returns undefined when there is no such file @throws ConfigError */
  const together = (file: string, shared: SharedState): HostConfig<S> | undefined => {
    const text = readAgentConfFile(home.path(file), file, { follow: false });
    if (text === undefined) return undefined;
    const failure = checkAgentConf(text, file);
    if (failure !== undefined) throw failure.error;
    const warnings = [...main.warnings];
    const own = identity ?? ownIdentity(home, lastLocal(local, 'client', 'config-profile'));
    const both = withShared(local, { text, file }, own, allowed, sections, warnings);
    return { ...readSections(both, main.name, sections, warnings), shared };
  };
  try {
    return together(SHARED_AGENT_CONF, { state: 'used' }) ?? alone({ state: 'none' });
  } catch (error) {
    const problem = problemOf(error, SHARED_AGENT_CONF);
    try {
      return together(LAST_GOOD_AGENT_CONF, { state: 'kept', problem }) ?? alone({ state: 'refused', problem });
    } catch (second) {
      problemOf(second, LAST_GOOD_AGENT_CONF);
      return alone({ state: 'refused', problem });
    }
  }
}

/** What is wrong with this file. @throws the error, when it is about another one */
function problemOf(error: unknown, file: string): string {
  if (!(error instanceof ConfigError) || error.file !== file) throw error;
  return error.message;
}

/** Blocks of the main configuration with those of agent.conf behind them. */
function withShared(
  local: SectionBlocks,
  { text, file }: { readonly text: string; readonly file: string },
  identity: AgentIdentityText,
  allowed: RemoteConsent,
  sections: readonly SectionName[],
  warnings: ConfigWarning[],
): SectionBlocks {
  const result = new Map<SectionName, SectionBlock[]>();
  for (const [name, blocks] of local) result.set(name, [...blocks]);
  const blocks = parseAgentConf(text, file, warnings);
  const report = new ConfigReport(file, '', warnings);
  for (const { children } of selectBlocks(blocks, identity, report)) {
    for (const child of children) {
      const { name } = child;
      // What others use is told by those who use it.
      if (!isSectionName(name) || !sections.includes(name)) continue;
      const element = acceptShared(name, child, allowed, new ConfigReport(file, name, warnings));
      if (element === undefined) continue;
      const block = { element, file, shared: true };
      const before = result.get(name);
      if (before === undefined) result.set(name, [block]);
      else before.push(block);
    }
  }
  return result;
}

/** What this host lets a manager do; only options of sections that are asked for are read. */
function remoteConsent(home: Home, local: SectionBlocks, sections: readonly SectionName[]): RemoteConsent {
  return {
    localfile: sections.includes('localfile') && loadInternalOption(home, 'logcollector.remote_commands') === 1,
    sockets:
      (sections.includes('socket') || sections.includes('localfile')) &&
      loadInternalOption(home, 'logcollector.remote_sockets') === 1,
    wodle: sections.includes('wodle') && loadInternalOption(home, 'wazuh_command.remote_commands') === 1,
    prefilter: lastLocal(local, 'syscheck', 'allow_remote_prefilter_cmd') === 'yes',
  };
}

/** Content of an element in the last block of the section that has it. */
function lastLocal(local: SectionBlocks, section: SectionName, element: string): string | undefined {
  return local
    .get(section)
    ?.map((block) => lastContent(block.element, element))
    .findLast((content) => content !== undefined);
}
