import { ConfigError } from '../../lib/config/config-error.js';
import type { ErrorCode } from '../http/error-code.js';
import { type AgentConfVerdict, judgeAgentConf } from './judge-agent-conf.js';
import { renderAgentConf, type RenderedAgentConf } from './render-agent-conf.js';

/** What came of it; a refusal has the number of the API and the detail behind its text. */
export type AgentConfOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: { readonly extra?: string } };

/** What is done with the text of an agent.conf, and what it gives. */
export type AgentConfWorks = {
  /** Checks it and lays it out, as it is stored. */
  readonly store: string;
  /** The same checks, with all that they say. */
  readonly check: AgentConfVerdict;
  /** Its blocks, as they are shown. */
  readonly show: readonly RenderedAgentConf[];
};
export type AgentConfWorkName = keyof AgentConfWorks;

/** @param file name in the errors */
type AgentConfTask<T> = (text: string, file: string) => AgentConfOutcome<T>;

/** The work itself; of a large file it takes seconds (rest-api.md 6.3). */
export const AGENT_CONF_WORKS: { readonly [K in AgentConfWorkName]: AgentConfTask<AgentConfWorks[K]> } = {
  store: (text, file) => {
    const { refusal, content } = judgeAgentConf(text, file);
    return refusal === undefined
      ? { ok: true, value: content }
      : { ok: false, code: refusal.code, detail: refusal.detail };
  },
  check: (text, file) => ({ ok: true, value: judgeAgentConf(text, file) }),
  show: (text, file) => refusing(1101, () => ({ ok: true, value: renderAgentConf(text, file) })),
};

/** @param code for a text that is no XML */
function refusing<T>(code: ErrorCode, work: () => AgentConfOutcome<T>): AgentConfOutcome<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ok: false, code, detail: { extra: error.text } };
  }
}
