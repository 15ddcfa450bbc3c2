import type { Home } from '../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';

/**
 * For tools that change what managers have; of a cluster any of them.
 * @throws HomeError when the home is no manager's
 */
export function requireManager(home: Home): void {
  if (readHomeRecord(home).role === 'server') return;
  throw new HomeError(`this is done on a manager, and '${home.root}' is none`);
}
