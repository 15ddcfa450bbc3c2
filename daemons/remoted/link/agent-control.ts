import { isHigherVersion } from '../../../lib/agentlink/agent-version.js';
import { CONTROL_HEADER } from '../../../lib/agentlink/control-text.js';
import { parseRequestText, type RequestText } from '../../../lib/agentlink/request-text.js';

/** A control message from an agent (agents-and-groups.md 4.1). */
export type AgentControl =
  /** It (re)connected. `version` is undefined for old agents, `versionMissing` says that there was JSON without one. */
  | { readonly kind: 'startup'; readonly version: string | undefined; readonly versionMissing: boolean }
  | { readonly kind: 'shutdown' }
  /** Answer to a request, or the word `ack`; never answered. */
  | ({ readonly kind: 'answer' } & RequestText)
  /** Text after the header, for `parseKeepalive`. */
  | { readonly kind: 'keepalive'; readonly text: string }
  /** Nothing of these; never answered. */
  | { readonly kind: 'invalid' };

const STARTUP = 'agent startup ';
const SHUTDOWN = 'agent shutdown ';
const REQUEST = 'req ';
const INVALID: AgentControl = { kind: 'invalid' };

/**
 * Reads a control message of an agent. Bytes that are no UTF-8 become U+FFFD, but for answers.
 * @param payload one for which `isControl` is true
 */
export function parseAgentControl(payload: Buffer): AgentControl {
  const bytes = payload.subarray(CONTROL_HEADER.length);
  if (startsWith(bytes, REQUEST)) {
    const answer = parseRequestText(bytes.subarray(REQUEST.length));
    return answer === undefined ? INVALID : { kind: 'answer', ...answer };
  }
  const text = bytes.toString('utf8');
  if (text.startsWith(STARTUP)) return parseStartup(text.slice(STARTUP.length));
  if (text === SHUTDOWN) return { kind: 'shutdown' };
  return text.includes('\n') ? { kind: 'keepalive', text } : INVALID;
}

function startsWith(bytes: Buffer, word: string): boolean {
  return bytes.length >= word.length && bytes.toString('latin1', 0, word.length) === word;
}

/** A startup without JSON, or with what is none, is that of an old agent. */
function parseStartup(json: string): AgentControl {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { kind: 'startup', version: undefined, versionMissing: false };
  }
  const version =
    typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string'
      ? value.version
      : undefined;
  return { kind: 'startup', version, versionMissing: version === undefined };
}

/** What becomes of a startup: an ACK, or the error to send instead of it with the agent's new status code (4.2, 4.6). */
export type StartupVerdict =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly statusCode: 1 | 2; readonly message: string };

/** Judges a startup by its version. @param managerVersion the one agents compare, such as `4.14.7` */
export function judgeStartup(
  startup: AgentControl & { kind: 'startup' },
  managerVersion: string,
  allowHigherVersions: boolean,
): StartupVerdict {
  if (startup.versionMissing) return { accepted: false, statusCode: 2, message: "Couldn't retrieve version" };
  if (startup.version !== undefined && !allowHigherVersions && isHigherVersion(startup.version, managerVersion)) {
    return { accepted: false, statusCode: 1, message: 'Agent version must be lower or equal to manager version' };
  }
  return { accepted: true };
}
