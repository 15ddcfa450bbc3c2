import type { JetStreamManager } from '@nats-io/jetstream';
import { natsTls } from '../../../lib/cluster/nats-tls.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { adminFile, readAdminFolder } from './admin-folder.js';
import { clientUrls } from './cluster-plan.js';

const CONNECT_MS = 10_000;
/** A stream that gets another copy answers when it is told, not when the copy is there. */
const REQUEST_MS = 15_000;

/**
 * Does something with the streams of a cluster, by the administrator's credential.
 * @param out folder that `svc-control cluster init` made
 * @throws Error with one clear line where there is no connection; what `work` throws
 */
export async function withStreams<T>(out: string, work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const { plan, secrets } = readAdminFolder(out);
  const servers = plan.members.filter(({ server }) => server);
  // Loaded when they are needed: few commands talk to NATS.
  const { connect, nkeyAuthenticator } = await import('@nats-io/transport-node');
  const { jetstreamManager } = await import('@nats-io/jetstream');
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
    return await work(await jetstreamManager(connection, { timeout: REQUEST_MS, checkAPI: false }));
  } finally {
    await connection.close();
  }
}
