import type { ApiConfig } from '../lib/config/api-config.js';
import { describeWarning } from '../lib/config/config-error.js';
import { loadApiConfig, loadSecurityConfig } from '../lib/config/load-api-config.js';
import { checkSettings, type DaemonSettings } from '../lib/daemon/daemon-settings.js';
import { type ApiSettings, restartNeeded, withoutRestart } from './api-settings.js';
import { isNodeOfCluster } from './manager/is-node-of-cluster.js';
import { settingsFromConfig } from './settings-from-config.js';

/** Configuration of svc-apid, as one thing that is replaced whole by a reload. */
export type ApidSettings = {
  /** api.yaml with all defaults, as it is shown. */
  readonly config: ApiConfig;
  /** The same in the form that the API uses; what needs a restart stays as it was at the start. */
  readonly api: ApiSettings;
  /** Of old keys that have no effect; at a start and in a check of an old TLS version, too. */
  readonly warnings: readonly string[];
  /** Whether this manager is a node of a cluster. */
  readonly isNode: boolean;
};

const READING: Omit<DaemonSettings<ApidSettings>, 'check'> = {
  load({ home }, current) {
    const { config, warnings } = loadApiConfig(home);
    // Read again whenever it changes, and has to be good at a start.
    loadSecurityConfig(home);
    return {
      config,
      api: settingsFromConfig(config, home),
      isNode: isNodeOfCluster(home),
      warnings: [...warnings.map(describeWarning), ...(current === undefined ? tlsWarnings(config) : [])],
    };
  },
  logWarnings({ warnings }, logger) {
    for (const warning of warnings) logger.warn(warning);
  },
  sections: (current) => new Map([['api', () => ({ ...current().config })]]),
  takeOver: (next, current) => ({ ...next, api: withoutRestart(current.api, next.api) }),
  restartNeeded: (next, { started }) => [
    ...restartNeeded(started.api, next.api),
    ...(next.isNode === started.isNode ? [] : ['cluster']),
  ],
};

/** How svc-apid reads its configuration. */
export const SETTINGS: DaemonSettings<ApidSettings> = {
  ...READING,
  check(context) {
    try {
      checkSettings(READING, context);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Configuration not valid. ERROR: ${reason}`, { cause: error });
    }
  },
};

function tlsWarnings({ https: { ssl_protocol: version } }: ApiConfig): readonly string[] {
  if (version !== 'tlsv1' && version !== 'tlsv1.1') return [];
  return [`The TLS version ${version} is deprecated: TLS 1.2 and 1.3 are used.`];
}
