import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { ClusterdClient } from '../../lib/cluster/shared-records.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { Home } from '../../lib/home/home.js';

/**
 * Asks svc-clusterd for shared records: who waits for what changes waits long, and does not take that for silence.
 * @param clusterd notices one that is stuck
 */
export function recordsClient(home: Home, clusterd: ClusterdClient, parts: DaemonParts): ClusterdClient {
  const waiting = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  return {
    call: (method, params, options) =>
      (method === 'records.changes' ? waiting : clusterd).call(method, params, options),
  };
}
