import { BusError } from '../../../lib/bus/bus-error.js';

/** Answers without a cluster: there are no other nodes. */
export function withoutCluster() {
  const refuse = (): never => {
    throw new BusError('unknown_method', 'This manager is in no cluster');
  };
  return {
    'agents.presence': refuse,
    'agents.presence_page': refuse,
    'agents.rows': refuse,
    'agents.lost': () => ({ agents: [], judged: false }),
  };
}
