import { isDeepStrictEqual } from 'node:util';
import { sharedProblem } from '../../lib/agents/load-host-config.js';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import { activeInternal } from './active-sections.js';
import { loadSyscheckdSettings, type SyscheckdSettings } from './settings.js';

/** How svc-syscheckd reads its configuration. */
export const SETTINGS: DaemonSettings<SyscheckdSettings> = {
  load: ({ home }) => loadSyscheckdSettings(home),
  logWarnings: ({ warnings }, logger) => {
    logConfigWarnings(warnings, logger);
  },
  check({ home, logger }) {
    const { warnings, shared } = loadSyscheckdSettings(home);
    logConfigWarnings(warnings, logger);
    const problem = sharedProblem(shared);
    if (problem !== undefined) logger.error(problem);
  },
  // Options are read at the start only; a scan that is running goes on where nothing of its rules has changed.
  takeOver: (next, current) => ({
    ...next,
    scan: isDeepStrictEqual(next.syscheck, current.syscheck) ? current.scan : next.scan,
    options: current.options,
  }),
  restartNeeded: (next, { started }) => [
    // The threads were made with it.
    ...(next.syscheck.prefilter_cmd === started.syscheck.prefilter_cmd ? [] : ['syscheck']),
    ...(isDeepStrictEqual(activeInternal(next), activeInternal(started)) ? [] : ['internal_options']),
  ],
};
