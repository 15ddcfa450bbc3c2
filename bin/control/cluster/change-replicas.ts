import { resolve } from 'node:path';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import type { ControlOutput } from '../control-output.js';
import { readAdminFolder } from './admin-folder.js';
import { withStreams } from './admin-streams.js';

const MAX_REPLICAS = 5;

/**
 * `svc-control cluster replicas N`: has the servers keep so many copies of each stream, with the administrator's credential.
 * @throws Error with one clear line
 */
export async function changeReplicas(output: ControlOutput, text: string, folder: string): Promise<number> {
  const out = resolve(folder);
  const { plan } = readAdminFolder(out);
  const servers = plan.members.filter(({ server }) => server);
  const most = Math.min(MAX_REPLICAS, servers.length);
  const replicas = Number(text);
  if (!/^\d$/.test(text) || replicas < 1 || replicas > most) {
    throw new Error(`'${text}': 1 to ${most} copies, since there are ${servers.length} NATS servers`);
  }
  return await withStreams(out, async (manager) => {
    const { JetStreamApiError } = await import('@nats-io/jetstream');
    const { streams, files } = clusterSubjects(plan.name);
    const changed: string[] = [];
    for (const { name } of [...Object.values(streams), files]) {
      try {
        const { config } = await manager.streams.info(name);
        await manager.streams.update(name, { ...config, num_replicas: replicas });
        changed.push(name);
        output.line(`${name}  ${config.num_replicas} -> ${replicas}`);
      } catch (error) {
        // Managers make a stream when they first need it.
        if (!(error instanceof JetStreamApiError) || error.status !== 404) throw error;
      }
    }
    if (changed.length === 0) output.line('There is no stream yet: managers make them, with as many copies.');
    output.document({ error: 0, data: { replicas, streams: changed } });
    return 0;
  });
}
