import { hostname } from 'node:os';
import { isAlertStreamRead } from '../../lib/config/alert-stream.js';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { AlertOrigin } from '../../lib/engine/alert/alert.js';
import { toByteString } from '../../lib/engine/byte-string.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { OutputSettings } from './outputs.js';

/**
 * What svc-analysisd reads of the main configuration and the internal options.
 * @throws ConfigError naming file and line
 */
export function loadSettings(home: Home) {
  const config = loadManagerConfig(home, [
    'global',
    'alerts',
    'ruleset',
    'rule_test',
    'cluster',
    'journal',
    'analysis',
    'active-response',
    'command',
  ]);
  const options = loadInternalOptions(home, ['analysisd']);
  const { global, cluster } = config;
  const outputs: OutputSettings = {
    alertsText: global.alerts_log,
    alertsJson: global.jsonout_output || isAlertStreamRead(home),
    archivesText: global.logall,
    archivesJson: global.logall_json,
    rotateIntervalSeconds: global.rotate_interval,
    maxOutputBytes: global.max_output_size,
    minRotateIntervalSeconds: options.get('analysisd.min_rotate_interval'),
    hasCustomText: global.custom_alert_output !== undefined,
  };
  const origin: AlertOrigin = {
    managerName: toByteString(hostname()),
    cluster:
      cluster === undefined || cluster.disabled || cluster.hidden
        ? undefined
        : { name: toByteString(cluster.name), node: toByteString(cluster.node_name) },
    showHiddenLabels: options.get('analysisd.show_hidden_labels') === 1,
  };
  return { config, options, outputs, origin };
}

export type Settings = ReturnType<typeof loadSettings>;

/** Logs what of the configuration has no effect. */
export function logWarnings({ config, options }: Settings, logger: Logger): void {
  for (const warning of [...ownWarnings(config.warnings, 'svc-analysisd'), ...options.warnings]) {
    logger.warn(describeWarning(warning));
  }
}
