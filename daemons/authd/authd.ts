import { authdContract } from '../../lib/bus/contracts/authd.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { FramedSocket } from '../../lib/bus/framed-socket.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { BoundAddress, DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { GroupFolders } from '../../lib/groups/group-folders.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import type { Logger } from '../../lib/log/logger.js';
import { logAccess, logAccessChanges } from './access-notice.js';
import { activeAuth, activeSections } from './active-sections.js';
import { AgentRegistrar } from './agent-registrar.js';
import { AUTHD_FLAGS, overridesOf } from './authd-flags.js';
import { authdHandlers } from './authd-handlers.js';
import { type AuthdSettings, loadAuthdSettings, logWarnings, ratesOf } from './authd-settings.js';
import { check } from './check.js';
import { DbAgentTable } from './db-agent-table.js';
import { Enroller } from './enroller.js';
import { EnrollmentLimits } from './enrollment-limits.js';
import { EnrollmentServer } from './enrollment-server.js';
import { EnrollmentService } from './enrollment-service.js';
import { KeyNotice } from './key-notice.js';
import { KeyRegistry } from './key-registry.js';
import { LocalAgents } from './local-agents.js';
import { LocalSocketService } from './local-socket.js';
import { warnOfOpenAccess } from './open-access.js';
import { RegistrationTimes } from './registration-times.js';
import { ReplacementGuard } from './replacement-guard.js';
import { RequestedGroups } from './requested-groups.js';

/** How often it is looked whether somebody else changed the key file. */
const REFRESH_MS = 1000;
/** Answer to a local request that announces more than a frame may hold. */
const OVERSIZE_ANSWER = 'err Message too long';

const epochSeconds = () => Math.floor(Date.now() / 1000);

/**
 * svc-authd: gives agents their keys over TLS, keeps the key file as its only writer, and tells svc-db which agents
 * there are (agents-and-groups.md 1 and 2).
 */
export const AUTHD: DaemonSpec = {
  name: 'svc-authd',
  ownFlags: AUTHD_FLAGS,
  check,
  build: buildAuthd,
};

async function buildAuthd(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  const overrides = overridesOf(context.ownFlags);
  let settings = loadAuthdSettings(home, overrides);
  if (settings.auth.disabled) throw new Error(`Section 'auth' is disabled in '${settings.config.file}'.`);
  logWarnings(settings, logger);

  const remoted = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const notice = new KeyNotice(() => remoted.call('keys.reload', {}), logger);
  const owner = fileOwner(home);
  const owned = owner === undefined ? {} : { owner };
  const groups = new RequestedGroups(home.path('queue', 'agents-requested-groups'), owner);
  const keys = new KeyRegistry({
    path: home.path('etc', 'client.keys'),
    lastIdPath: home.path('queue', 'agents-last-id'),
    logger,
    ...owned,
    prepare: () => groups.save(),
    onWritten: () => {
      notice.changed();
    },
    onReplaced: () => {
      registrar.compareAll();
    },
  });
  const times = new RegistrationTimes(home.path('queue', 'agents-timestamp'), keys, logger, owner);
  const table = new DbAgentTable(home.socket('svc-db'));
  const registrar = new AgentRegistrar(table, keys, times, groups, logger, epochSeconds);
  await Promise.all([times.load(), groups.load(), keys.load()]);
  times.complete(epochSeconds());

  const guard = new ReplacementGuard(Date.now);
  const enroller = new Enroller({
    home,
    keys,
    registrar,
    times,
    groups,
    guard,
    logger,
    purge: () => settings.auth.purge,
    now: epochSeconds,
  });
  const folders = new GroupFolders(home);
  const limits = new EnrollmentLimits(() => ratesOf(settings), logger);
  const service = new EnrollmentService(enroller, () => settings, folders, limits, logger);
  const local = new LocalAgents(enroller, folders, () => settings.auth.force, logger);
  const server = enrollmentServer(settings, service, logger);

  const requests = new RequestServer<typeof authdContract>({
    contract: authdContract,
    path: home.socket('svc-authd'),
    logger,
    handlers: {
      ...commonHandlers('svc-authd', {
        stats: (): Record<string, unknown> => ({
          requests: { ...requests.counters },
          enrollment: { ...server?.counters, limited: limits.refused },
          agents: { keys: keys.size, ...registrar.counters },
        }),
        sections: activeSections(() => settings),
        reload: context.reload,
      }),
      ...authdHandlers(local, keys, guard),
    },
  });
  const localSocket = localSocketOf(
    home,
    new LocalSocketService(local, keys, () => activeAuth(settings), logger),
    logger,
  );

  await requests.start();
  await localSocket.start();
  const bound = await server?.start();
  if (bound !== undefined) {
    logAccess(settings, bound.port, logger);
    warnOfOpenAccess(settings, bound, logger);
  }
  registrar.start();
  const started = settings;
  let authority = started.tls?.ca;
  const refresh = setInterval(() => {
    void keys.refresh();
  }, REFRESH_MS);

  const addresses: Record<string, BoundAddress> = {
    requests: { protocol: 'ipc', address: home.socket('svc-authd') },
  };
  if (bound !== undefined) addresses['enrollment'] = { protocol: 'tcp', address: bound.address, port: bound.port };
  return {
    addresses,
    reload() {
      return Promise.resolve().then(() => {
        const random = settings.password.kind === 'random' ? settings.password.text : undefined;
        const next = loadAuthdSettings(home, overrides, random);
        logWarnings(next, logger);
        const restart = needsRestart(started, next);
        if (bound !== undefined) {
          logAccessChanges(settings, next, bound.port, logger);
          if (settings.password.kind !== next.password.kind) warnOfOpenAccess(next, bound, logger);
        }
        // A port that demands certificates goes on to do so until a restart: without an authority it would take none.
        authority = next.tls?.ca ?? authority;
        if (next.tls !== undefined) server?.renew(authority === undefined ? next.tls : { ...next.tls, ca: authority });
        settings = next;
        return restart ? ['auth'] : [];
      });
    },
    async stop() {
      clearInterval(refresh);
      await Promise.all([server?.stop(), requests.stop(), localSocket.stop()]);
      await keys.idle();
      registrar.stop();
      times.close();
      table.close();
      notice.stop();
      remoted.close();
    },
  };
}

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

/** Files belong to the service's user, where this process may give them away. */
function fileOwner(home: Home): { readonly uid: number; readonly gid: number } | undefined {
  const { uid, gid } = readHomeRecord(home);
  return process.geteuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
}

/** What the open port depends on. */
function needsRestart(before: AuthdSettings, after: AuthdSettings): boolean {
  const bound = ({ auth }: AuthdSettings) => [
    auth.port,
    auth.ipv6,
    auth.local_ip,
    auth.remote_enrollment,
    auth.ssl_agent_ca === undefined,
    auth.ssl_verify_host,
  ];
  return bound(before).join() !== bound(after).join();
}
