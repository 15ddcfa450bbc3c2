import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadMonitordSettings, logWarnings } from './monitord-settings.js';

/** What svc-monitord finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  logWarnings(loadMonitordSettings(home), logger);
};
