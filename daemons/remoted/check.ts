import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadRemotedSettings, logWarnings } from './remoted-settings.js';

/** What svc-remoted finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  logWarnings(loadRemotedSettings(home), logger);
};
