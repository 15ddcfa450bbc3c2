import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { closingError, loadHomeRuleset } from './ruleset-loader.js';
import { loadSettings } from './settings.js';

/** What svc-analysisd finds in its configuration, the ruleset included. */
export const check: DaemonCheck = ({ home, logger }) => {
  const settings = loadSettings(home, logger);
  try {
    loadHomeRuleset(home, settings, new EngineDiagnostics(logger));
  } catch (error) {
    throw closingError(error, settings);
  }
};
