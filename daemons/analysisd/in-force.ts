import type { AlertOrigin } from '../../lib/engine/alert/alert.js';
import { toByteString } from '../../lib/engine/byte-string.js';
import { DEFAULT_STEP_BUDGET, type EngineOptions } from '../../lib/engine/engine.js';
import type { EngineStateOptions } from '../../lib/engine/engine-state.js';
import { loadingOf, type LoadingSettings } from '../../lib/ruleset/loading-settings.js';
import type { OutputSettings } from './outputs.js';
import { respondingOf, type RespondingSettings } from './responses/response-settings.js';
import type { Settings } from './settings.js';

/**
 * Everything beside the events that the output depends on, as plain data: what the journal records whenever it changes,
 * so that a replay gives the same bytes whatever the files on disk say by then.
 */
export type InForce = {
  /** Content hash of the ruleset's copy in the library. */
  readonly ruleset: string;
  readonly loading: LoadingSettings;
  readonly origin: AlertOrigin;
  /** `analysisd.log_fw`. */
  readonly logFirewall: boolean;
  readonly state: Omit<EngineStateOptions, 'maxRememberedBytes'>;
  readonly outputs: OutputSettings;
  /** `<custom_alert_output>`, a byte string; null = the usual form. */
  readonly customFormat: string | null;
  /** Active responses; absent in what versions recorded that had none. */
  readonly responding?: RespondingSettings;
};

/** How the engine works. */
export function engineOptionsOf({ origin, logFirewall }: InForce): EngineOptions {
  return { mode: 'live', origin, logFirewall, budget: DEFAULT_STEP_BUDGET };
}

/** What decides about active responses. */
export function respondingIn({ responding }: InForce): RespondingSettings {
  return responding ?? { responses: [], whiteList: [] };
}

/** What is in force after a start with these settings. @param ruleset content hash */
export function inForceOf(settings: Settings, ruleset: string): InForce {
  const { config, options, outputs, origin } = settings;
  const format = config.global.custom_alert_output;
  return {
    ruleset,
    loading: loadingOf(settings),
    origin,
    logFirewall: options.get('analysisd.log_fw') === 1,
    state: {
      firstTimeSeen: {
        listSize: options.get('analysisd.fts_list_size'),
        minSize: options.get('analysisd.fts_min_size_for_str'),
      },
      statistics: {
        level: config.global.stats,
        maxDiff: options.get('analysisd.stats_maxdiff'),
        minDiff: options.get('analysisd.stats_mindiff'),
        percentDiff: options.get('analysisd.stats_percent_diff'),
      },
    },
    outputs,
    customFormat: format === undefined ? null : toByteString(format),
    responding: respondingOf(config['active-response'].responses, config.global.white_list),
  };
}

/** What is in force after a reload: outputs and the options of the engine's state stay those of the start. */
export function inForceAfterReload(running: InForce, settings: Settings, ruleset: string): InForce {
  const { state, outputs, customFormat } = running;
  return { ...inForceOf(settings, ruleset), state, outputs, customFormat };
}

/** Whether two are the same; both come from this file or from a journal that holds what came from it. */
export function isSameInForce(a: InForce, b: InForce): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
