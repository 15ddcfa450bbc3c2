import { sharedProblem } from '../../lib/agents/load-host-config.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import { activeSections } from './active-sections.js';
import { type CollectorSettings, loadCollectorSettings, logWarnings } from './collector-settings.js';
import { hostFacts } from './host-facts.js';

/** How svc-logcollector reads its configuration. */
export const SETTINGS: DaemonSettings<CollectorSettings> = {
  load: ({ home, logger }, current) => loadCollectorSettings(home, current?.host ?? hostFacts(), logger),
  logWarnings,
  check({ home, logger }) {
    const settings = loadCollectorSettings(home, hostFacts(), logger);
    logWarnings(settings, logger);
    const problem = sharedProblem(settings.shared);
    if (problem !== undefined) logger.error(problem);
  },
  sections: activeSections,
  restartNeeded: (next, { started }) =>
    internalOptions(next) === internalOptions(started) ? [] : ['internal_options'],
};

/** Options are read at the start only. */
function internalOptions(settings: CollectorSettings): string {
  return JSON.stringify(activeSections(() => settings).get('internal')?.());
}
