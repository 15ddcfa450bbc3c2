import type { Contract } from '../../lib/bus/contract.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';

/** A daemon and those of its methods that other nodes may call, or tell of something. */
export type AskableDaemon = { readonly contract: Contract; readonly methods: readonly string[] };

/** What other nodes may call here: everything else is a node's own matter. */
export const ASKABLE: Partial<Record<DaemonName, AskableDaemon>> = {
  'svc-db': { contract: dbContract, methods: ['ping'] },
};
