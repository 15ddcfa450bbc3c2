import type { DaemonName } from '../../lib/product/daemon-names.js';
import type { Fault } from './faults.js';

function killOf(daemon: DaemonName): Fault {
  return {
    name: `kill -9 of ${daemon}`,
    async cause(_stage, node) {
      await node.host.kill(daemon);
      await node.host.waitUntilUp();
    },
  };
}

/** Ends of those that make alerts, hand them on, decide about responses and bring them to agents. */
export const EFFECT_FAULTS: readonly Fault[] = (
  ['svc-analysisd', 'svc-monitord', 'svc-execd', 'svc-remoted', 'svc-apid'] as const
).map(killOf);
