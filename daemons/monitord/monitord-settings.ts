import { type ConfigWarning, describePlace, logConfigWarnings } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import { clusterDefaults } from '../../lib/config/sections/cluster.js';
import type { LogTargets } from '../../lib/daemon/daemon-logger.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import { logTargets, shownLogging } from '../../lib/daemon/log-targets.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { MaintenanceSettings } from '../../lib/rotation/log-maintenance.js';
import type { RetentionRule } from '../../lib/rotation/retention.js';
import { maintenanceSettings, retentionRules } from '../../lib/rotation/rotation-settings.js';
import type { AgentWatchSettings } from './agent-watch.js';
import { activeOutputs } from './outputs/active-outputs.js';
import { indexerProblems } from './outputs/indexer/indexer-output.js';
import { programProblem } from './outputs/integration/integration-program.js';
import { mailProblem } from './outputs/mail/mail-output.js';
import { isProgram } from './outputs/output-definitions.js';
import { reportsProblem } from './reports/report-plan.js';

const SECTIONS = [
  'global',
  'reports',
  'alerts',
  'cluster',
  'syslog_output',
  'integration',
  'email_alerts',
  'indexer',
] as const;
const MEGABYTE = 1024 ** 2;

/** How long and how much is kept; not in the reference. */
const RETENTION_OPTIONS = [
  'keep_other_log_days',
  'keep_alert_days',
  'keep_archive_days',
  'keep_firewall_days',
  'max_log_size',
  'max_alert_size',
  'max_archive_size',
  'max_firewall_size',
] as const;

/** Configuration of svc-monitord, as one thing that is replaced whole by a reload. */
export type MonitordSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  /** Outputs that cannot work, as they are logged. */
  readonly problems: readonly string[];
  readonly options: InternalOptions<'monitord' | 'integrator' | 'maild'>;
  readonly maintenance: MaintenanceSettings;
  readonly retention: readonly RetentionRule[];
  /** Whether outputs hand on the alerts of all nodes of a cluster. */
  readonly sharedAlerts: boolean;
  /** Which logs are written; only to be shown. */
  readonly logging: LogTargets;
};

/** How svc-monitord reads its configuration. */
export const SETTINGS: DaemonSettings<MonitordSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections,
  restartNeeded: (next, { started }) => (next.sharedAlerts === started.sharedAlerts ? [] : ['cluster']),
};

/** @throws ConfigError with file and line */
function load(home: Home): MonitordSettings {
  const { config, problems } = withoutMissingPrograms(home, loadManagerConfig(home, SECTIONS));
  const options = loadInternalOptions(home, ['monitord', 'integrator', 'maild']);
  const { cluster } = config;
  return {
    config,
    sharedAlerts: cluster !== undefined && !cluster.disabled && cluster.alerts.outputs === 'cluster',
    problems,
    options,
    logging: logTargets(home, false),
    maintenance: maintenanceSettings(options),
    retention: retentionRules(options),
  };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config, options, problems }: MonitordSettings, logger: Logger): void {
  const warnings = [...ownWarnings(config.warnings, 'svc-monitord'), ...reportWarnings(config), ...options.warnings];
  logConfigWarnings(warnings, logger);
  for (const problem of problems) logger.error(problem);
}

type Config = MonitordSettings['config'];

/** What keeps all reports from being mailed: told once, where the first of them stands. */
function reportWarnings(config: Config): readonly ConfigWarning[] {
  const problem = reportsProblem(config);
  return problem === undefined ? [] : [{ ...problem, file: config.file, section: 'reports' }];
}

/** Leaves out integrations whose program is not there or could be anybody's (daemons-and-config.md 8.2), and says what mail lacks. */
function withoutMissingPrograms(home: Home, config: Config): Pick<MonitordSettings, 'config' | 'problems'> {
  const problems: string[] = [];
  const integration = config.integration.filter(({ name, line }) => {
    const problem = isProgram(name) ? programProblem(home, name) : undefined;
    if (problem === undefined) return true;
    const place = describePlace({ file: config.file, line });
    problems.push(`Unable to enable integration for: '${name}'. ${problem} ${place}`);
    return false;
  });
  const mail = mailProblem(config);
  if (mail !== undefined) problems.push(`${mail} (${config.file})`);
  problems.push(...indexerProblems(config, home).map((problem) => `${problem} (${config.file})`));
  return { config: { ...config, integration }, problems };
}

/** What the watch over agents follows. */
export function agentWatchSettings(settings: MonitordSettings): AgentWatchSettings {
  const { config, options } = settings;
  return {
    disconnectionTime: config.global.agents_disconnection_time,
    alertTime: config.global.agents_disconnection_alert_time,
    alerts: options.get('monitord.monitor_agents') === 1,
    deleteAfterMinutes: options.get('monitord.delete_old_agents'),
    node: config.cluster === undefined || config.cluster.disabled ? undefined : config.cluster.node_name,
  };
}

function sections(settings: () => MonitordSettings): ReadonlyMap<string, ShownSection> {
  return new Map<string, ShownSection>([
    ['global', () => ({ monitord: activeGlobal(settings()) })],
    ['internal', () => ({ monitord: activeInternal(settings()) })],
    ['reports', () => ({ reports: activeReports(settings()) })],
    ['logging', () => shownLogging(settings().logging)],
    ['cluster', () => ({ cluster: activeCluster(settings()) })],
    ...activeOutputs(() => settings().config),
    ['mail-internal', () => ({ maild: activeMaild(settings()) })],
  ]);
}

/** Without its key, which is nobody's business but that of nodes. */
function activeCluster({ config }: MonitordSettings): Record<string, unknown> {
  const { name, node_name, node_type, port, bind_addr, nodes, hidden, disabled } = config.cluster ?? clusterDefaults();
  return {
    disabled: disabled ? 'yes' : 'no',
    name,
    node_name,
    node_type,
    port,
    bind_addr,
    nodes: nodes.node,
    hidden: hidden ? 'yes' : 'no',
  };
}

function activeGlobal({ config }: MonitordSettings): Record<string, unknown> {
  const { agents_disconnection_time, agents_disconnection_alert_time } = config.global;
  return { agents_disconnection_time, agents_disconnection_alert_time };
}

function activeInternal({ options }: MonitordSettings): Record<string, unknown> {
  return {
    day_wait: options.get('monitord.day_wait'),
    compress: options.get('monitord.compress'),
    sign: options.get('monitord.sign'),
    monitor_agents: options.get('monitord.monitor_agents'),
    keep_log_days: options.get('monitord.keep_log_days'),
    rotate_log: options.get('monitord.rotate_log'),
    size_rotate: options.get('monitord.size_rotate') * MEGABYTE,
    daily_rotations: options.get('monitord.daily_rotations'),
    delete_old_agents: options.get('monitord.delete_old_agents'),
    // The reference does not have them: they are shown where they are set.
    ...Object.fromEntries(
      RETENTION_OPTIONS.map((name) => [name, options.get(`monitord.${name}`)]).filter(([, value]) => value !== 0),
    ),
  };
}

function activeMaild({ options }: MonitordSettings): Record<string, unknown> {
  return {
    strict_checking: options.get('maild.strict_checking'),
    grouping: options.get('maild.grouping'),
    full_subject: options.get('maild.full_subject'),
    geoip: options.get('maild.geoip'),
  };
}

function activeReports({ config }: MonitordSettings): readonly Record<string, unknown>[] {
  return config.reports.map((report) => ({
    title: report.title,
    group: report.category.value ?? '',
    rule: report.rule?.value ?? '',
    level: report.level?.value ?? '',
    srcip: report.srcip?.value ?? '',
    user: report.user?.value ?? '',
    showlogs: report.showlogs ? 'yes' : 'no',
    email_to: report.email_to,
  }));
}
