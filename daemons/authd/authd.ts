import { authdContract } from '../../lib/bus/contracts/authd.js';
import { FramedSocket } from '../../lib/bus/framed-socket.js';
import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { GroupFolders } from '../../lib/groups/group-folders.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { logAccess, logAccessChanges } from './access-notice.js';
import { activeAuth, activeSections } from './active-sections.js';
import { AUTHD_FLAGS } from './authd-flags.js';
import { authdHandlers } from './authd-handlers.js';
import { type AuthdSettings, nodeOf, ratesOf, SETTINGS } from './authd-settings.js';
import { EnrollmentLimits } from './enrollment-limits.js';
import { EnrollmentServer } from './enrollment-server.js';
import { EnrollmentService } from './enrollment-service.js';
import { LocalAgents } from './local-agents.js';
import { LocalSocketService } from './local-socket.js';
import { warnOfOpenAccess } from './open-access.js';
import { openRegistry } from './open-registry.js';

/** How often it is looked whether somebody else changed the key file. */
const REFRESH_MS = 1000;
/** Answer to a local request that announces more than a frame may hold. */
const OVERSIZE_ANSWER = 'err Message too long';

/**
 * svc-authd: gives agents their keys over TLS, keeps the key file as its only writer, and tells svc-db which agents
 * there are (agents-and-groups.md 1 and 2).
 */
export const AUTHD = defineDaemon({
  contract: authdContract,
  settings: SETTINGS,
  ownFlags: AUTHD_FLAGS,
  accept({ auth, config }, current) {
    if (current !== undefined || !auth.disabled) return;
    // Nobody else has the key file of a node follow.
    const advice =
      config.cluster?.disabled === false
        ? ': a node of a cluster needs it, <remote_enrollment>no</remote_enrollment> closes its port'
        : '';
    throw new Error(`Section 'auth' is disabled in '${config.file}'${advice}.`);
  },
  async build(context, parts) {
    const { home, logger, settings, requests } = context;
    const node = nodeOf(settings.started);
    const purge = () => settings.current.auth.purge;
    const registry = await openRegistry({ home, logger, node, purge }, parts);
    const { keys, registrar, enroller, guard, cluster } = registry;
    const folders = new GroupFolders(home);
    const limits = new EnrollmentLimits(() => ratesOf(settings.current), logger);
    const service = new EnrollmentService(enroller, () => settings.current, folders, limits, logger);
    const local = new LocalAgents(enroller, folders, () => settings.current.auth.force, logger);

    const sockets = parts.together();
    const server = enrollmentServer(settings.current, service, logger);
    await sockets.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          enrollment: { ...server?.counters, limited: limits.refused },
          agents: { keys: keys.size, ...registrar.counters },
          ...(cluster === undefined ? {} : { cluster: { ...cluster.counters } }),
        }),
        sections: activeSections(() => settings.current),
        handlers: authdHandlers(local, keys, guard),
      }),
    );
    const answering = new LocalSocketService(local, keys, () => activeAuth(settings.current), logger);
    await sockets.start(localSocketOf(home, answering, logger));
    const bound = await server?.start();
    if (server !== undefined) sockets.use(server);
    if (bound !== undefined) {
      logAccess(settings.current, bound.port, logger);
      warnOfOpenAccess(settings.current, bound, logger);
    }
    registry.start();
    parts.every(REFRESH_MS, () => void registry.look());

    const addresses: Record<string, BoundAddress> = {
      requests: { protocol: 'ipc', address: home.socket('svc-authd') },
    };
    if (bound !== undefined) addresses['enrollment'] = { protocol: 'tcp', address: bound.address, port: bound.port };
    let authority = settings.started.tls?.ca;
    return {
      addresses,
      apply(now, before) {
        if (bound !== undefined) {
          logAccessChanges(before, now, bound.port, logger);
          if (before.password.kind !== now.password.kind) warnOfOpenAccess(now, bound, logger);
        }
        // A port that demands certificates goes on to do so until a restart: without an authority it would take none.
        authority = now.tls?.ca ?? authority;
        if (now.tls !== undefined) server?.renew(authority === undefined ? now.tls : { ...now.tls, ca: authority });
      },
    };
  },
});

/** Undefined when agents do not enrol over the network. */
function enrollmentServer(
  { auth, tls }: AuthdSettings,
  service: EnrollmentService,
  logger: Logger,
): EnrollmentServer | undefined {
  if (tls === undefined) return undefined;
  return new EnrollmentServer({
    port: auth.port,
    host: auth.local_ip ?? (auth.ipv6 ? '::' : '0.0.0.0'),
    tls,
    verifyAgent: auth.ssl_agent_ca !== undefined,
    verifyHost: auth.ssl_agent_ca !== undefined && auth.ssl_verify_host,
    answer: (line, peer) => service.answer(line, peer),
    logger,
  });
}

function localSocketOf(home: Home, service: LocalSocketService, logger: Logger): FramedSocket {
  return new FramedSocket({
    path: home.path('queue', 'sockets', 'auth'),
    handler: (request) => service.answer(request),
    oversizeAnswer: OVERSIZE_ANSWER,
    logger,
  });
}
