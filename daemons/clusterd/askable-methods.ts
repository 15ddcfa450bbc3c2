import type { Contract } from '../../lib/bus/contract.js';
import { apidContract } from '../../lib/bus/contracts/apid.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';

/** A daemon and those of its methods that other nodes may call, or tell of something. */
export type AskableDaemon = { readonly contract: Contract; readonly methods: readonly string[] };

/** What other nodes may call here: everything else is a node's own matter. */
export const ASKABLE: Partial<Record<DaemonName, AskableDaemon>> = {
  'svc-apid': { contract: apidContract, methods: ['api.run', 'api.rest'] },
  'svc-db': { contract: dbContract, methods: ['ping', 'agents.presence', 'agents.presence_page', 'agents.rows'] },
  // The holder of the lease writes what the others decide.
  'svc-clusterd': { contract: clusterdContract, methods: ['records.write', 'records.give'] },
  // Active responses reach an agent where it is connected.
  'svc-remoted': { contract: remotedContract, methods: ['agents.send'] },
};
