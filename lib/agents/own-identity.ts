import { parseClientKeys } from '../agentlink/client-keys.js';
import type { AgentIdentityText } from '../config/agent-conf.js';
import { readLimited } from '../config/configuration-file.js';
import type { Home } from '../home/home.js';
import { unameText } from '../manager/uname-text.js';
import { COMPATIBILITY_VERSION } from '../product/version.js';

const KEYS = 'etc/client.keys';

/** Largest key file read: that of an agent has one line. */
const MAX_BYTES = 1_048_576;

/**
 * This agent as the filters of agent.conf see it (agents-and-groups.md 7.1).
 * @param profile its `client/config-profile`
 */
export function ownIdentity(home: Home, profile: string | undefined): AgentIdentityText {
  return { name: ownName(home), os: `${unameText()} - Wazuh v${COMPATIBILITY_VERSION}`, profile };
}

/** Undefined before the enrolment, and when the file cannot be read: the agent then has no connection either. */
function ownName(home: Home): string | undefined {
  try {
    return parseClientKeys(readLimited(home.path(KEYS), KEYS, MAX_BYTES), KEYS).agents[0]?.name;
  } catch {
    return undefined;
  }
}
