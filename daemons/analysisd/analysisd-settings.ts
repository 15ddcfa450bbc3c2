import type { GlobalConfig } from '../../lib/config/sections/global.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { closingError, loadHomeRuleset } from './ruleset-loader.js';
import { loadSettings, logWarnings, type Settings } from './settings.js';

/** How svc-analysisd reads its configuration. Sections in force are those of `Configuration`: the bus can reload them, too. */
export const SETTINGS: DaemonSettings<Settings> = {
  load: ({ home }) => loadSettings(home),
  logWarnings,
  check({ home, logger }) {
    const settings = loadSettings(home);
    logWarnings(settings, logger);
    try {
      loadHomeRuleset(home, settings, new EngineDiagnostics(logger));
    } catch (error) {
      throw closingError(error, settings);
    }
  },
  restartNeeded: (next, { started }) => changedSections(started, next),
};

/** Internal options that are read at start only. */
const START_OPTIONS = [
  'analysisd.fts_list_size',
  'analysisd.fts_min_size_for_str',
  'analysisd.stats_maxdiff',
  'analysisd.stats_mindiff',
  'analysisd.stats_percent_diff',
  'analysisd.min_rotate_interval',
  'analysisd.state_interval',
] as const;

/**
 * Elements of `<global>` that are read at start only. The others are for other daemons or have no effect, and
 * `memory_size` comes with the ruleset.
 */
const START_GLOBAL = [
  'jsonout_output',
  'alerts_log',
  'logall',
  'logall_json',
  'rotate_interval',
  'max_output_size',
  'custom_alert_output',
  'stats',
  'limits',
] as const satisfies readonly (keyof GlobalConfig)[];

/** What of the configuration is another one than at the start and has not taken effect by a reload. */
function changedSections(started: Settings, now: Settings): string[] {
  const differs = (part: (settings: Settings) => unknown): boolean =>
    JSON.stringify(part(started)) !== JSON.stringify(part(now));
  const global = differs(({ config, outputs }) => [outputs.alertsJson, START_GLOBAL.map((name) => config.global[name])])
    ? ['global']
    : [];
  const sections = (['rule_test', 'journal', 'analysis'] as const).filter((section) =>
    differs(({ config }) => config[section]),
  );
  const options = START_OPTIONS.filter((name) => started.options.get(name) !== now.options.get(name));
  return [...global, ...sections, ...options];
}
