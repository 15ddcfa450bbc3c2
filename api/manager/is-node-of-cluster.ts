import { existsSync } from 'node:fs';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { Home } from '../../lib/home/home.js';

/**
 * Whether this manager is a node of a cluster. Where its configuration cannot be read now, whether it was one: what would be
 * decided here alone would be lost, or stand against what the others have decided.
 */
export function isNodeOfCluster(home: Home): boolean {
  try {
    const { cluster } = loadManagerConfig(home, ['cluster']);
    return cluster !== undefined && !cluster.disabled;
  } catch {
    return existsSync(home.path('queue', 'cluster'));
  }
}
