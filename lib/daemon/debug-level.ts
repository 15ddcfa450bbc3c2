import { loadInternalOptions } from '../config/internal-options.js';
import type { Home } from '../home/home.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { DebugLevel } from './daemon-logger.js';

/** Section of the internal options that holds a daemon's `debug` (daemons-and-config.md 2); svc-apid has none. */
const AREAS = {
  'svc-analysisd': 'analysisd',
  'svc-authd': 'authd',
  'svc-monitord': 'monitord',
  'svc-execd': 'execd',
  'svc-logcollector': 'logcollector',
  'svc-remoted': 'remoted',
  'svc-syscheckd': 'syscheck',
  'svc-clusterd': 'wazuh_clusterd',
  'svc-modulesd': 'wazuh_modules',
  'svc-db': 'wazuh_db',
} as const;

/**
 * Verbosity of a daemon from the home's internal options. Options that cannot be read give 0: the daemon's own check of
 * them says what is wrong.
 */
export function configuredDebugLevel(home: Home, daemon: DaemonName): DebugLevel {
  if (!(daemon in AREAS)) return 0;
  const area = AREAS[daemon as keyof typeof AREAS];
  try {
    const level = loadInternalOptions(home, [area]).get(`${area}.debug`);
    return level === 1 || level === 2 ? level : 0;
  } catch {
    return 0;
  }
}
