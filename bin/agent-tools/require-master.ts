import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { Home } from '../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';

/**
 * For tools that change what the master of a cluster has.
 * @throws HomeError when the home is no manager's, or that of a worker; ConfigError
 */
export function requireMaster(home: Home): void {
  if (readHomeRecord(home).role !== 'server') {
    throw new HomeError(`this is done on a manager, and '${home.root}' is none`);
  }
  const { cluster } = loadManagerConfig(home, ['cluster']);
  if (cluster?.disabled === false && cluster.node_type === 'worker') {
    throw new HomeError(`this is done on the master of the cluster: ${cluster.nodes.node.join(', ')}`);
  }
}
