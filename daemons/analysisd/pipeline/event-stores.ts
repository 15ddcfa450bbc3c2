import type { CallParams } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { EventStore } from './stored-events.js';

type Database = Pick<RequestClient<typeof dbContract>, 'call'>;
type FileCall = CallParams<typeof dbContract, 'fim.apply'>;
/** What an agent is to be told. */
type AgentOrder = { readonly agent: string; readonly text: string };
type PolicyCall = CallParams<typeof dbContract, 'sca.apply'>;
type InventoryCall = CallParams<typeof dbContract, 'inventory.apply'>;

/**
 * What svc-db stores of events (integrity-and-inventory.md 7, 10): each of its stores has a position of its own in the journal.
 * @param onOrder gets what agents are to be told by one of them
 */
export function eventStores(db: Database, onOrder: (order: AgentOrder) => void): readonly EventStore[] {
  return [
    {
      name: 'files',
      kinds: new Map([
        [QUEUE_IDS.fileIntegrity, 'syscheck'],
        [QUEUE_IDS.rootcheck, 'rootcheck'],
      ]),
      position: (options) => db.call('fim.position', {}, options),
      apply: (call, options) => db.call('fim.apply', call as FileCall, options),
    },
    {
      name: 'policies',
      kinds: new Map([[QUEUE_IDS.policyAssessment, 'sca']]),
      position: (options) => db.call('sca.position', {}, options),
      apply: async (call, options) => {
        const { orders } = await db.call('sca.apply', call as PolicyCall, options);
        for (const order of orders ?? []) onOrder(order);
      },
    },
    {
      name: 'inventory',
      kinds: new Map([[QUEUE_IDS.inventory, 'inventory']]),
      position: (options) => db.call('inventory.position', {}, options),
      apply: (call, options) => db.call('inventory.apply', call as InventoryCall, options),
    },
  ];
}
