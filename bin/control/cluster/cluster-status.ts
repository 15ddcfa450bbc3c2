import { clusterdContract, type ClusterView } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { loadManagerConfig } from '../../../lib/config/load-manager-config.js';
import type { Home } from '../../../lib/home/home.js';
import { shownText } from '../../terminal/shown-text.js';
import { textTable } from '../../terminal/text-table.js';
import { whyUnavailable } from '../../terminal/why-unavailable.js';
import type { Suite } from '../suite-commands.js';

/**
 * `svc-control cluster status`: who is in the cluster, as the svc-clusterd of this manager sees it.
 * @param now epoch milliseconds
 * @returns 0; 1 where it is off, or nothing that managers have in common can be changed from here
 * @throws Error when svc-clusterd does not answer
 */
export async function clusterStatus({ home, output }: Suite, now: number): Promise<0 | 1> {
  const { cluster } = loadManagerConfig(home, ['cluster']);
  if (cluster === undefined || cluster.disabled) {
    output.line('This manager is in no cluster.');
    output.document({ error: 0, data: { enabled: false } });
    return 1;
  }
  const client = clusterdOf(home);
  let view: ClusterView;
  try {
    view = await client.call('cluster.view', {});
  } finally {
    client.close();
  }
  for (const line of statusLines(view, now)) output.line(line);
  output.document({ error: 0, data: { enabled: true, ...view } });
  return view.writable ? 0 : 1;
}

/**
 * `svc-control cluster forget`: a manager that will not come back is shown no more.
 * @throws BusError `unknown_node`, `node_present`; when svc-clusterd does not answer
 */
export async function forgetNode({ home, output }: Suite, node: string): Promise<0> {
  const client = clusterdOf(home);
  try {
    await client.call('nodes.forget', { node });
  } finally {
    client.close();
  }
  output.line(`'${shownText(node)}' is no manager of the cluster any more.`);
  output.document({ error: 0, data: { node } });
  return 0;
}

function clusterdOf(home: Home): RequestClient<typeof clusterdContract> {
  return new RequestClient({
    contract: clusterdContract,
    path: home.socket('svc-clusterd'),
    describeAbsence: (reason) => whyUnavailable(home, 'svc-clusterd', reason),
  });
}

/** What is shown of a cluster. @param now epoch milliseconds */
function statusLines(view: ClusterView, now: number): string[] {
  const can = view.writable
    ? 'agents, groups, rules and users can be changed'
    : 'agents, groups, rules and users cannot be changed; everything else goes on';
  const rows = view.nodes.map((node) => [
    shownText(node.name) + (node.self ? ' (here)' : ''),
    node.type,
    shownText(node.version),
    shownText(node.ip),
    node.present ? 'present' : 'away',
    node.self || node.heardAt === null ? '-' : `${Math.max(0, Math.round((now - node.heardAt) / 1000))}s`,
    String(node.revision),
  ]);
  return [
    `Cluster   ${view.cluster}`,
    `Manager   ${view.self}`,
    `NATS      ${view.connected ? 'connected' : 'not connected'}${view.problem === null ? '' : `: ${shownText(view.problem)}`}`,
    `Changes   ${can}`,
    `Revision  ${view.revision}`,
    '',
    ...textTable([['NODE', 'TYPE', 'VERSION', 'ADDRESS', 'STATE', 'HEARD', 'REVISION'], ...rows], 5),
  ];
}
