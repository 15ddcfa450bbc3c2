import { isAlertStreamRead } from '../../lib/config/alert-stream.js';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';

const SECTIONS = ['wdb', 'cluster', 'global', 'alert_store'] as const;
/** Name of a node that no configuration names (daemons-and-config.md 1.2). */
const DEFAULT_NODE = 'node01';

/** Configuration of svc-db, as one thing that is replaced whole by a reload. */
export type DbSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly options: InternalOptions<'wazuh_db'>;
  /** What agent 000 shows as its node. */
  readonly nodeName: string;
  /** Whether svc-analysisd writes alerts.json. */
  readonly hasAlertStream: boolean;
  /** Whether this manager is one node of several. */
  readonly clustered: boolean;
};

/** How svc-db reads its configuration. */
export const SETTINGS: DaemonSettings<DbSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections,
  restartNeeded: (next, { started }) => [
    ...(sameCluster(next, started) ? [] : ['cluster']),
    ...(next.config.alert_store.enabled === started.config.alert_store.enabled ? [] : ['alert_store']),
  ],
};

/** @throws ConfigError with file and line */
function load(home: Home): DbSettings {
  const config = loadManagerConfig(home, SECTIONS);
  return {
    config,
    options: loadInternalOptions(home, ['wazuh_db']),
    nodeName: config.cluster?.node_name ?? DEFAULT_NODE,
    hasAlertStream: config.global.jsonout_output || isAlertStreamRead(home),
    clustered: config.cluster !== undefined && !config.cluster.disabled,
  };
}

/** The name of a single manager is only shown: another one needs no restart. */
function sameCluster(left: DbSettings, right: DbSettings): boolean {
  return left.clustered === right.clustered && (!left.clustered || left.nodeName === right.nodeName);
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config, options, hasAlertStream }: DbSettings, logger: Logger): void {
  for (const warning of [...ownWarnings(config.warnings, 'svc-db'), ...options.warnings]) {
    logger.warn(describeWarning(warning));
  }
  if (config.alert_store.enabled && !hasAlertStream) {
    logger.warn('Alerts cannot be searched: <jsonout_output> is no, and <alert_store> reads alerts.json.');
  }
}

const INTERNAL_OPTIONS = [
  'commit_time_min',
  'commit_time_max',
  'open_db_limit',
  'worker_pool_size',
  'fragmentation_threshold',
  'fragmentation_delta',
  'free_pages_percentage',
  'max_fragmentation',
  'check_fragmentation_interval',
] as const;

function sections(settings: () => DbSettings): ReadonlyMap<string, ShownSection> {
  return new Map<string, ShownSection>([
    ['alert_store', () => ({ alert_store: settings().config.alert_store })],
    ['wdb', () => ({ wdb: { backup: [{ database: 'global', ...settings().config.wdb.backup }] } })],
    [
      'internal',
      () => {
        const { options } = settings();
        return {
          wazuh_db: Object.fromEntries(INTERNAL_OPTIONS.map((name) => [name, options.get(`wazuh_db.${name}`)])),
        };
      },
    ],
  ]);
}
