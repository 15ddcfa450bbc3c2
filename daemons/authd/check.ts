import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { overridesOf } from './authd-flags.js';
import { loadAuthdSettings, logWarnings } from './authd-settings.js';

/** What svc-authd finds in its configuration. */
export const check: DaemonCheck = ({ home, logger, ownFlags }) => {
  logWarnings(loadAuthdSettings(home, overridesOf(ownFlags)), logger);
};
