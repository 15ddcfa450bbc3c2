import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { MAX_JSON_CHUNK_BYTES, MAX_UPGRADES_AT_ONCE } from './upgrade/upgrade-limits.js';

const SECTIONS = ['agent-upgrade', 'task-manager', 'cluster'] as const;
/** Name of a node that no configuration names (daemons-and-config.md 1.2). */
const DEFAULT_NODE = 'node01';

/** Configuration of svc-modulesd, as one thing that is replaced whole by a reload. */
export type ModulesdSettings = { readonly config: ManagerConfig<(typeof SECTIONS)[number]>; readonly nodeName: string };

/** How svc-modulesd reads its configuration. */
export const SETTINGS: DaemonSettings<ModulesdSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections,
  // Places for upgrades are made at the start.
  restartNeeded: (next, { started }) =>
    isDeepStrictEqual(upgradesAtOnce(next), upgradesAtOnce(started)) ? [] : ['agent-upgrade'],
};

/** Agents that packages are sent to at once: `max_threads`, 0 being as many as the host has processors. */
export function upgradesAtOnce({ config }: ModulesdSettings): number {
  const { max_threads: wanted } = config['agent-upgrade'];
  return Math.min(wanted === 0 ? availableParallelism() : wanted, MAX_UPGRADES_AT_ONCE);
}

/** @throws ConfigError with file and line */
function load(home: Home): ModulesdSettings {
  const config = loadManagerConfig(home, SECTIONS);
  return { config, nodeName: config.cluster?.node_name ?? DEFAULT_NODE };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config }: ModulesdSettings, logger: Logger): void {
  for (const warning of ownWarnings(config.warnings, 'svc-modulesd')) logger.warn(describeWarning(warning));
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
function activeModules({ config }: ModulesdSettings): readonly Record<string, unknown>[] {
  const { chunk_size, max_threads, wpk_repository } = config['agent-upgrade'];
  const { cleanup_time, task_timeout } = config['task-manager'];
  return [
    { 'agent-upgrade': { enabled: 'yes', max_threads, chunk_size, wpk_repository } },
    { 'task-manager': { enabled: 'yes', task_timeout, cleanup_time } },
  ];
}
