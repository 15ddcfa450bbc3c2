import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type HostConfig, loadHostConfig, sharedProblem } from '../../lib/agents/load-host-config.js';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import type { Schedule } from '../../lib/config/schedule.js';
import type { CommandModuleConfig, ScaConfig } from '../../lib/config/sections/modules.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import { type HomeRole, readHomeRecord } from '../../lib/home/home-record.js';
import type { Logger } from '../../lib/log/logger.js';
import { loadPolicies, policyPlaces } from '../../lib/sca/load-policies.js';
import type { PolicyFileOptions } from '../../lib/sca/policy-file.js';
import { activeInventory } from './inventory/scan-settings.js';
import { MAX_JSON_CHUNK_BYTES, MAX_UPGRADES_AT_ONCE } from './upgrade/upgrade-limits.js';

const SECTIONS = ['agent-upgrade', 'task-manager', 'cluster', 'wodle', 'sca'] as const;
/** Name of a node that no configuration names (daemons-and-config.md 1.2). */
const DEFAULT_NODE = 'node01';

/** Configuration of svc-modulesd, as one thing that is replaced whole by a reload. */
export type ModulesdSettings = {
  /** An agent has modules alone; a manager upgrades agents, too. */
  readonly role: HomeRole;
  /** On an agent with what its manager pushed, where this host consents. */
  readonly config: HostConfig<(typeof SECTIONS)[number]>;
  readonly options: InternalOptions<'wazuh_modules' | 'wazuh_command' | 'sca'>;
  readonly nodeName: string;
  /** Where policies lie, and whose commands may run (integrity-and-inventory.md 10.1). */
  readonly policies: PolicyFileOptions;
};

/** How svc-modulesd reads its configuration. */
export const SETTINGS: DaemonSettings<ModulesdSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  check({ home, logger }) {
    const settings = load(home);
    logWarnings(settings, logger);
    const problem = sharedProblem(settings.config.shared);
    if (problem !== undefined) logger.error(problem);
    for (const warning of policyWarnings(settings)) logger.warn(warning);
  },
  sections,
  // Places for upgrades are made at the start.
  restartNeeded: (next, { started }) =>
    isDeepStrictEqual(upgradesAtOnce(next), upgradesAtOnce(started)) ? [] : ['agent-upgrade'],
};

/** What is wrong with policies that would be used: each scan says it again. */
function policyWarnings({ config: { sca }, policies }: ModulesdSettings): readonly string[] {
  if (sca?.enabled !== true) return [];
  const { places, warnings } = policyPlaces(policies, sca.policies.policy);
  return [...warnings, ...loadPolicies(places, policies).warnings];
}

/** Agents that packages are sent to at once: `max_threads`, 0 being as many as the host has processors. */
export function upgradesAtOnce({ config }: ModulesdSettings): number {
  const { max_threads: wanted } = config['agent-upgrade'];
  return Math.min(wanted === 0 ? availableParallelism() : wanted, MAX_UPGRADES_AT_ONCE);
}

/** @throws ConfigError with file and line */
function load(home: Home): ModulesdSettings {
  const config = loadHostConfig(home, SECTIONS);
  const options = loadInternalOptions(home, ['wazuh_modules', 'wazuh_command', 'sca']);
  const { role } = readHomeRecord(home);
  return {
    ...{ role, config, options },
    policies: { home, remoteCommands: role === 'agent' && options.get('sca.remote_commands') === 1 },
    nodeName: config.cluster?.node_name ?? DEFAULT_NODE,
  };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ role, config, options }: ModulesdSettings, logger: Logger): void {
  logConfigWarnings([...ownWarnings(config.warnings, 'svc-modulesd'), ...options.warnings], logger);
  if (role === 'agent') return;
  const { max_threads: threads, chunk_size: chunk } = config['agent-upgrade'];
  if (threads > MAX_UPGRADES_AT_ONCE) {
    logger.warn(
      `'agent-upgrade' 'max_threads' ${threads} is more than there is: ${MAX_UPGRADES_AT_ONCE} agents are upgraded at once.`,
    );
  }
  if (chunk > MAX_JSON_CHUNK_BYTES) {
    logger.warn(
      `'agent-upgrade' 'chunk_size' ${chunk} does not fit into a message: agents of 4.1 and later get ${MAX_JSON_CHUNK_BYTES} bytes at once.`,
    );
  }
}

function sections(settings: () => ModulesdSettings): ReadonlyMap<string, ShownSection> {
  return new Map<string, ShownSection>([['wmodules', () => ({ wmodules: activeModules(settings()) })]]);
}

/** Modules as agents show theirs (daemons-and-config.md 1.7). */
function activeModules({ role, config, policies }: ModulesdSettings): readonly Record<string, unknown>[] {
  const { command: commands, syscollector } = config.wodle;
  const modules = [
    ...commands.map((command) => ({ command: activeCommand(command) })),
    ...(syscollector === undefined ? [] : [{ syscollector: activeInventory(syscollector) }]),
    ...(config.sca === undefined ? [] : [{ sca: activeSca(config.sca, policies) }]),
  ];
  if (role === 'agent') return modules;
  const { chunk_size, max_threads, wpk_repository } = config['agent-upgrade'];
  const { cleanup_time, task_timeout } = config['task-manager'];
  return [
    ...modules,
    { 'agent-upgrade': { enabled: 'yes', max_threads, chunk_size, wpk_repository } },
    { 'task-manager': { enabled: 'yes', task_timeout, cleanup_time } },
  ];
}

/** In the shape of daemons-and-config.md 7.4. */
function activeCommand(command: CommandModuleConfig): Record<string, unknown> {
  const { interval, ...start } = activeSchedule(command);
  const set = {
    ...{ tag: command.tag, ...start },
    ...{ verify_md5: command.verify_md5, verify_sha1: command.verify_sha1, verify_sha256: command.verify_sha256 },
  };
  return {
    ...interval,
    disabled: yesNo(command.disabled),
    run_on_start: yesNo(command.run_on_start),
    ignore_output: yesNo(command.ignore_output),
    skip_verification: yesNo(command.skip_verification),
    command: command.command,
    ...defined(set),
  };
}

/** As agents show their `sca`: with the policies of `ruleset/sca` that are used, too. */
function activeSca(sca: ScaConfig, options: PolicyFileOptions): Record<string, unknown> {
  const { interval, ...start } = activeSchedule(sca);
  const policies = policyPlaces(options, sca.policies.policy).places.map(({ real }) => real);
  return {
    ...interval,
    ...defined(start),
    enabled: yesNo(sca.enabled),
    scan_on_start: yesNo(sca.scan_on_start),
    skip_nfs: yesNo(sca.skip_nfs),
    ...(policies.length === 0 ? {} : { policies }),
  };
}

function activeSchedule({ interval, day, wday, time }: Schedule) {
  const unit = interval.unit === 'month' ? { interval_unit: 'month' } : {};
  return {
    interval: { interval: interval.count, ...unit },
    day,
    wday: wday === undefined ? undefined : WEEKDAYS[wday],
    time: time === undefined ? undefined : clockTime(time),
  };
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** @param minutes behind midnight */
function clockTime(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
