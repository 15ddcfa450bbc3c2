import { sharedProblem } from '../../lib/config/load-host-config.js';
import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { loadCollectorSettings, logWarnings } from './collector-settings.js';
import { hostFacts } from './host-facts.js';

/** What svc-logcollector finds in its configuration. */
export const check: DaemonCheck = ({ home, logger }) => {
  const settings = loadCollectorSettings(home, hostFacts(), logger);
  logWarnings(settings, logger);
  const problem = sharedProblem(settings.shared);
  if (problem !== undefined) logger.error(problem);
};
