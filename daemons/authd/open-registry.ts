import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AgentKeys } from './agent-keys.js';
import { AgentRegistrar } from './agent-registrar.js';
import { AgentUpkeep } from './agent-upkeep.js';
import { ClusterAgents } from './cluster/cluster-agents.js';
import { DbAgentTable } from './db-agent-table.js';
import { Enroller } from './enroller.js';
import type { KeyFileOwner } from './key-file-writer.js';
import { KeyNotice } from './key-notice.js';
import { KeyRegistry } from './key-registry.js';
import { OwnKeys } from './own-keys.js';
import { RegistrationTimes } from './registration-times.js';
import { ReplacementGuard } from './replacement-guard.js';
import { RequestedGroups } from './requested-groups.js';

export type RegistryParts = {
  readonly home: Home;
  readonly logger: Logger;
  /** The name of this node, where it is one of a cluster. */
  readonly node: string | undefined;
  /** Whether removed agents leave no line. */
  readonly purge: () => boolean;
};

/** The keys, what is known beside them, and who changes them. */
export type Registry = {
  readonly keys: KeyRegistry;
  readonly registrar: AgentRegistrar;
  readonly enroller: Enroller;
  readonly guard: ReplacementGuard;
  readonly cluster: ClusterAgents | undefined;
  /** Begins to tell svc-db, and to follow the cluster. */
  readonly start: () => void;
  /** Looks whether somebody else has changed the key file; to be called every second. */
  readonly look: () => Promise<void>;
};

const epochSeconds = () => Math.floor(Date.now() / 1000);

/** Reads the keys, and makes what decides about them. @throws KeyFileError, or the file system's error */
export async function openRegistry(given: RegistryParts, parts: DaemonParts): Promise<Registry> {
  const { home, logger, purge } = given;
  const owner = fileOwner(home);
  const table = parts.use(new DbAgentTable(home.socket('svc-db')));
  const groups = new RequestedGroups(home.path('queue', 'agents-requested-groups'), owner);
  const keys = keyRegistry(given, groups, parts, () => {
    cluster?.fileReplaced();
    registrar.compareAll();
  });
  const times = parts.use(new RegistrationTimes(home.path('queue', 'agents-timestamp'), keys, logger, owner));
  const guard = new ReplacementGuard(Date.now);
  parts.defer(() => keys.idle());
  const common = { home, logger, registry: keys, times, groups, guard, purge, now: epochSeconds, owner };
  const cluster = clusterAgents(given, common, parts);
  const registrar = parts.use(new AgentRegistrar(table, cluster?.known ?? keys, times, groups, logger, epochSeconds));
  await Promise.all([times.load(), groups.load(), keys.load()]);
  if (cluster === undefined) times.complete(epochSeconds());

  const isNameUsed = (name: string) => agents.byName(name) !== undefined;
  const upkeep = new AgentUpkeep({ home, registrar, times, groups, isNameUsed, logger });
  const agents: AgentKeys = cluster?.keys ?? new OwnKeys({ registry: keys, times, groups, upkeep });
  const enroller = new Enroller({ keys: agents, registrar, times, guard, logger, purge, now: epochSeconds });
  return {
    ...{ keys, registrar, enroller, guard, cluster },
    start() {
      registrar.start();
      cluster?.start(registrar, upkeep);
    },
    async look() {
      await keys.refresh();
      await cluster?.look();
    },
  };
}

function keyRegistry(
  { home, logger }: RegistryParts,
  groups: RequestedGroups,
  parts: DaemonParts,
  onReplaced: () => void,
): KeyRegistry {
  const owner = fileOwner(home);
  const remoted = parts.use(new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') }));
  const notice = parts.use(new KeyNotice(() => remoted.call('keys.reload', {}), logger));
  return new KeyRegistry({
    path: home.path('etc', 'client.keys'),
    lastIdPath: home.path('queue', 'agents-last-id'),
    logger,
    ...(owner === undefined ? {} : { owner }),
    prepare: () => groups.save(),
    onWritten: () => {
      notice.changed();
    },
    onReplaced,
  });
}

/** Undefined where this manager works by itself: nothing of a cluster is asked then. */
function clusterAgents(
  { home, node }: RegistryParts,
  common: Omit<ConstructorParameters<typeof ClusterAgents>[0], 'node' | 'client'>,
  parts: DaemonParts,
): ClusterAgents | undefined {
  if (node === undefined) return undefined;
  const client = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  return parts.use(new ClusterAgents({ ...common, node, client }));
}

/** Files belong to the service's user, where this process may give them away. */
function fileOwner(home: Home): KeyFileOwner | undefined {
  const { uid, gid } = readHomeRecord(home);
  return process.geteuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
}
