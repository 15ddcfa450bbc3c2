import { SHARED_AGENT_CONF } from '../../../lib/agents/load-host-config.js';
import { type AgentConfFailure, checkAgentConf } from '../../../lib/config/agent-conf.js';
import { readAgentConfFile } from '../../../lib/config/agent-conf-file.js';
import { ConfigError } from '../../../lib/config/config-error.js';
import { loadInternalOptions } from '../../../lib/config/internal-options.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

export type SharedConfigurationParts = {
  readonly home: Home;
  readonly logger: Logger;
  /** Sends an event of the agent itself. */
  readonly report: (text: string) => void;
  /** Reloads svc-agentd. @throws Error; what runs then stays, and it is logged */
  readonly reload: () => Promise<unknown>;
  /** Has the other daemons reload. */
  readonly reloadOthers: () => void;
  /** Sends a keepalive, by which the manager sees that the agent is in step. */
  readonly keepalive: () => void;
  readonly setProblem: (problem: string | undefined) => void;
};

/**
 * Uses the shared agent.conf after a push: checks it, and has the whole agent reload whatever `auto_restart` says. One
 * that is not right changes nothing that runs (agents-and-groups.md 6.9).
 */
export async function useSharedConfiguration(parts: SharedConfigurationParts): Promise<void> {
  const { home, logger, report, reload, reloadOthers, keepalive, setProblem } = parts;
  try {
    if (loadInternalOptions(home, ['agent']).get('agent.remote_conf') === 0) {
      logger.info("Shared files were updated; 'agent.remote_conf' is 0: their configuration is not used.");
      return;
    }
    const failure = checkShared(home);
    if (failure !== undefined) {
      const { section, problem } = failure;
      report(`wazuh: Invalid remote configuration: '${section}'. `);
      setProblem(`the shared configuration is not used, what runs stays: ${problem}`);
      return;
    }
    setProblem(undefined);
    logger.info('Agent is reloading due to shared configuration changes.');
    await reload().catch((error: unknown) => {
      setProblem(`svc-agentd runs on with its old configuration: ${describeError(error)}`);
    });
    reloadOthers();
  } finally {
    // With the labels that are in force now.
    keepalive();
  }
}

/** What is wrong with the agent.conf that was unpacked; undefined also when there is none. */
function checkShared(home: Home): { readonly section: string; readonly problem: string } | undefined {
  try {
    const text = readAgentConfFile(home.path(SHARED_AGENT_CONF), SHARED_AGENT_CONF, { follow: false });
    const failure: AgentConfFailure | undefined =
      text === undefined ? undefined : checkAgentConf(text, SHARED_AGENT_CONF);
    return failure && { section: failure.section, problem: failure.error.message };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // What cannot be read fails the first check.
    return { section: 'syscheck', problem: error.message };
  }
}
