import { checkAgentConf } from '../../lib/config/agent-conf.js';
import { MAX_AGENT_CONF_BYTES } from '../../lib/config/agent-conf-file.js';
import { ConfigError, type ConfigWarning } from '../../lib/config/config-error.js';
import type { ErrorCode } from '../http/error-code.js';
import { formatConfiguration } from './format-configuration.js';

/** Why an agent.conf is not stored (rest-api.md 6.3). */
export type AgentConfRefusal = {
  readonly code: ErrorCode;
  /** What stands behind the text of the code, in the words that users of the reference know. */
  readonly detail: { readonly extra?: string };
  /** Undefined where the text of the code says all. */
  readonly remark?: AgentConfRemark;
};

/** Something about a line, from 1; line 0 is the whole file. */
export type AgentConfRemark = { readonly line: number; readonly message: string };

/** Whether an agent.conf would be stored. */
export type AgentConfVerdict = {
  /** Undefined when it would be. */
  readonly refusal?: AgentConfRefusal;
  /** What is no reason to refuse it. */
  readonly warnings: readonly AgentConfRemark[];
  /** As it is stored: laid out. Of a text that is refused it means nothing. */
  readonly content: string;
};

/**
 * Every check that an agent.conf must pass before it is stored, in one place for those who store it and those who only ask.
 * @param file name in the errors
 */
export function judgeAgentConf(text: string, file: string): AgentConfVerdict {
  const refused = (refusal: AgentConfRefusal): AgentConfVerdict => ({ refusal, warnings: [], content: text });
  if (text.trim() === '') return refused({ code: 1112, detail: {} });
  if (Buffer.byteLength(text) > MAX_AGENT_CONF_BYTES) {
    const message = `${file} would be larger than ${MAX_AGENT_CONF_BYTES} bytes`;
    return refused({ code: 1114, detail: { extra: message }, remark: { line: 0, message } });
  }
  let formatted: string;
  try {
    formatted = formatConfiguration(text, file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refused({ code: 1113, detail: { extra: error.text }, remark: remarkOf(error) });
  }
  const warnings: ConfigWarning[] = [];
  const failure = checkAgentConf(text, file, warnings);
  const remarks = distinct(warnings.map(({ line, text: message }) => ({ line, message })));
  if (failure !== undefined) {
    const refusal = {
      code: 1114,
      detail: { extra: failure.lines.join(', ') },
      remark: remarkOf(failure.error),
    } as const;
    return { refusal, warnings: remarks, content: text };
  }
  // The blanks may be what makes it too large for the agents.
  const content = Buffer.byteLength(formatted) > MAX_AGENT_CONF_BYTES ? text : formatted;
  return { warnings: remarks, content };
}

function remarkOf({ line, text, hint }: ConfigError): AgentConfRemark {
  return { line, message: hint === undefined ? text : `${text} ${hint}` };
}

/** Several checks look at the same block, and may say the same of it. */
function distinct(remarks: readonly AgentConfRemark[]): AgentConfRemark[] {
  return [...new Map(remarks.map((remark) => [`${String(remark.line)} ${remark.message}`, remark])).values()];
}
