import { resolve } from 'node:path';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { natsTls } from '../../../lib/cluster/nats-tls.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { ControlOutput } from '../control-output.js';
import { adminFile, readAdminFolder } from './admin-folder.js';
import { clientUrls } from './cluster-plan.js';

const CONNECT_MS = 10_000;
/** A stream that gets another copy answers when it is told, not when the copy is there. */
const REQUEST_MS = 15_000;
const MAX_REPLICAS = 5;

/**
 * `svc-control cluster replicas N`: has the servers keep so many copies of each stream, with the administrator's credential.
 * @throws Error with one clear line
 */
export async function changeReplicas(output: ControlOutput, text: string, folder: string): Promise<number> {
  const out = resolve(folder);
  const { plan, secrets } = readAdminFolder(out);
  const servers = plan.members.filter(({ server }) => server);
  const most = Math.min(MAX_REPLICAS, servers.length);
  const replicas = Number(text);
  if (!/^\d$/.test(text) || replicas < 1 || replicas > most) {
    throw new Error(`'${text}': 1 to ${most} copies, since there are ${servers.length} NATS servers`);
  }
  // Loaded when they are needed: few commands talk to NATS.
  const { connect, nkeyAuthenticator } = await import('@nats-io/transport-node');
  const { jetstreamManager, JetStreamApiError } = await import('@nats-io/jetstream');
  const connection = await connect({
    servers: clientUrls(plan.members).map((url) => url.replace('tls://', '')),
    authenticator: nkeyAuthenticator(Buffer.from(adminFile(out, 'admin').trim())),
    tls: natsTls(
      servers.map(({ host }) => host),
      { ca: secrets.authority.certificate },
    ),
    timeout: CONNECT_MS,
    reconnect: false,
  }).catch((error: unknown) => {
    throw new Error(`no NATS server takes the connection: ${describeError(error)}`, { cause: error });
  });
  try {
    const manager = await jetstreamManager(connection, { timeout: REQUEST_MS, checkAPI: false });
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
  } finally {
    await connection.close();
  }
}
