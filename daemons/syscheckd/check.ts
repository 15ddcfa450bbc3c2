import { logConfigWarnings } from '../../lib/config/config-error.js';
import { sharedProblem } from '../../lib/config/load-host-config.js';
import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadSyscheckdSettings } from './settings.js';

/** What svc-syscheckd finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  const settings = loadSyscheckdSettings(home);
  logConfigWarnings(settings.warnings, logger);
  const problem = sharedProblem(settings.shared);
  if (problem !== undefined) logger.error(problem);
};
