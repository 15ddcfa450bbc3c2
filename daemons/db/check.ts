import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadDbSettings, logWarnings } from './db-settings.js';

/** What svc-db finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  logWarnings(loadDbSettings(home), logger);
};
