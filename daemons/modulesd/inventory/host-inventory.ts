import { MANAGER_ID } from '../../../lib/agentlink/agent-identity.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { HomeRole } from '../../../lib/home/home-record.js';
import { HOST_CLOCK } from '../../../lib/sync/sync-clock.js';
import { AgentOutlet, ManagerOutlet, type SyncOutlet } from '../../../lib/sync/sync-outlet.js';
import { scanInThread } from './host/scan-in-thread.js';
import { INVENTORY_LOCATION } from './inventory-messages.js';
import { InventoryModule, type InventoryModuleParts } from './inventory-module.js';

export type HostInventoryParts = Pick<InventoryModuleParts, 'producer' | 'maxEps' | 'nice' | 'logger'> & {
  readonly home: Home;
  readonly role: HomeRole;
};

/** The inventory of the host that the daemon runs on; it follows no configuration yet. */
export function hostInventory({ home, role, ...own }: HostInventoryParts, parts: DaemonParts): InventoryModule {
  const { producer, logger } = own;
  const onManager = (): SyncOutlet => {
    const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    return new ManagerOutlet({
      deliver: (message, options) => db.call('inventory.sync', { agent: MANAGER_ID, message }, options),
      answered: (order) => module.take(order),
      logger,
    });
  };
  const outlet =
    role === 'server'
      ? onManager()
      : new AgentOutlet({ producer, location: INVENTORY_LOCATION, now: () => Date.now(), logger });
  const module: InventoryModule = new InventoryModule({
    ...own,
    root: '/',
    scan: scanInThread,
    outlet,
    clock: HOST_CLOCK,
    now: () => Date.now(),
  });
  return module;
}
