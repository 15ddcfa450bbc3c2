import { loadManagerConfig } from '../config/load-manager-config.js';
import type { Home } from '../home/home.js';
import type { LogTargets } from './daemon-logger.js';

/**
 * The log files a home writes (`<logging><log_format>`, daemons-and-config.md 3.7). While the configuration cannot be
 * read both are written: whoever looks for the reason finds it.
 * @param stderr whether lines also go to standard error
 */
export function logTargets(home: Home, stderr: boolean): LogTargets {
  try {
    const format = loadManagerConfig(home, ['logging']).logging?.log_format ?? { plain: true, json: false };
    return { plain: format.plain, json: format.json, stderr };
  } catch {
    return { plain: true, json: true, stderr };
  }
}

/** The same as a manager is told of it (daemons-and-config.md 1.7, `com/logging`). */
export function shownLogging({ plain, json }: Pick<LogTargets, 'plain' | 'json'>): Record<string, unknown> {
  return { logging: { plain: plain ? 'yes' : 'no', json: json ? 'yes' : 'no' } };
}
