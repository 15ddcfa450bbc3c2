import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadAgentdSettings, logWarnings } from './agentd-settings.js';

/** What svc-agentd finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  logWarnings(loadAgentdSettings(home), logger);
};
