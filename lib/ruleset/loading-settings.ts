import type { InternalOptions } from '../config/internal-options.js';
import type { ManagerConfig } from '../config/manager-config.js';

/** What the loading of a ruleset goes by, beside its texts. */
export type LoadingSettings = {
  readonly logLevel: number;
  readonly mailLevel: number;
  /** Seconds. */
  readonly defaultTimeframe: number;
  readonly orderSize: number;
  readonly memorySize: number;
};

type LoadingSource = {
  readonly config: ManagerConfig<'global' | 'alerts'>;
  readonly options: Pick<InternalOptions<'analysisd'>, 'get'>;
};

/** What the loading of a ruleset takes from the settings. */
export function loadingOf({ config, options }: LoadingSource): LoadingSettings {
  return {
    logLevel: config.alerts.log_alert_level,
    mailLevel: config.alerts.email_alert_level,
    defaultTimeframe: options.get('analysisd.default_timeframe'),
    orderSize: options.get('analysisd.decoder_order_size'),
    memorySize: config.global.memory_size,
  };
}
