import type { CallParams } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { EventStore } from './stored-events.js';

type Database = Pick<RequestClient<typeof dbContract>, 'call'>;
type FileCall = CallParams<typeof dbContract, 'fim.apply'>;
type PolicyCall = CallParams<typeof dbContract, 'sca.apply'>;
type InventoryCall = CallParams<typeof dbContract, 'inventory.apply'>;

/** What svc-db stores of events (integrity-and-inventory.md 7, 10): each of its stores has a position of its own in the journal. */
export function eventStores(db: Database): readonly EventStore[] {
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
      apply: (call, options) => db.call('sca.apply', call as PolicyCall, options),
    },
    {
      name: 'inventory',
      kinds: new Map([[QUEUE_IDS.inventory, 'inventory']]),
      position: (options) => db.call('inventory.position', {}, options),
      apply: (call, options) => db.call('inventory.apply', call as InventoryCall, options),
    },
  ];
}
