import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import { type HomeRole, readHomeRecord } from '../../lib/home/home-record.js';
import type { Logger } from '../../lib/log/logger.js';

const SECTIONS = ['active-response', 'command', 'global', 'cluster'] as const;
/** Name of a node that no configuration names (daemons-and-config.md 1.2). */
const DEFAULT_NODE = 'node01';

/** Configuration of svc-execd, as one thing that is replaced whole by a reload. */
export type ExecdSettings = {
  /** A manager obeys its own configuration, an agent what its manager pushed. */
  readonly role: HomeRole;
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly options: InternalOptions<'execd'>;
  /** Who speaks to agents and to programs. */
  readonly nodeName: string;
  /** Whether this manager is one node of several. */
  readonly clustered: boolean;
};

/** How svc-execd reads its configuration. A pushed agent.conf has no say in it (agents-and-groups.md 7.3). */
export const SETTINGS: DaemonSettings<ExecdSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections,
  restartNeeded: (next, { started }) => (sameCluster(next, started) ? [] : ['cluster']),
};

/** The name of a single manager is only told: another one needs no restart. */
function sameCluster(left: ExecdSettings, right: ExecdSettings): boolean {
  return left.clustered === right.clustered && (!left.clustered || left.nodeName === right.nodeName);
}

/** @throws ConfigError with file and line */
function load(home: Home): ExecdSettings {
  const config = loadManagerConfig(home, SECTIONS);
  const { role } = readHomeRecord(home);
  return {
    role,
    config,
    options: loadInternalOptions(home, ['execd']),
    nodeName: config.cluster?.node_name ?? DEFAULT_NODE,
    clustered: role === 'server' && config.cluster !== undefined && !config.cluster.disabled,
  };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config }: ExecdSettings, logger: Logger): void {
  for (const warning of ownWarnings(config.warnings, 'svc-execd')) logger.warn(describeWarning(warning));
}

/** In the shapes of daemons-and-config.md 1.7. */
function sections(settings: () => ExecdSettings): ReadonlyMap<string, ShownSection> {
  const internal = ({ options }: ExecdSettings): Record<string, unknown> => ({
    request_timeout: options.get('execd.request_timeout'),
    max_restart_lock: options.get('execd.max_restart_lock'),
  });
  return new Map<string, ShownSection>([
    ['active-response', () => ({ 'active-response': activeResponse(settings()) })],
    ['internal', () => ({ internal: { execd: internal(settings()) } })],
  ]);
}

function activeResponse({ config }: ExecdSettings): Record<string, unknown> {
  const { execdDisabled, repeatedOffenders } = config['active-response'];
  return { disabled: execdDisabled ? 'yes' : 'no', repeated_offenders: repeatedOffenders };
}
