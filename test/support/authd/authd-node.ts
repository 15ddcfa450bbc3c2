import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { AgentRegistrar } from '../../../daemons/authd/agent-registrar.js';
import {
  type AgentTable,
  type NewAgent,
  type TableAgent,
  TableRefusedError,
} from '../../../daemons/authd/agent-table.js';
import { AgentUpkeep } from '../../../daemons/authd/agent-upkeep.js';
import { ClusterAgents } from '../../../daemons/authd/cluster/cluster-agents.js';
import { Enroller, type EnrollmentCandidate } from '../../../daemons/authd/enroller.js';
import { KeyRegistry } from '../../../daemons/authd/key-registry.js';
import { RegistrationTimes } from '../../../daemons/authd/registration-times.js';
import { ReplacementGuard } from '../../../daemons/authd/replacement-guard.js';
import type { AgentFacts } from '../../../daemons/authd/replacement-rule.js';
import { RequestedGroups } from '../../../daemons/authd/requested-groups.js';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';

/** The agents of a svc-db in memory. */
export class MemoryTable implements AgentTable {
  readonly rows = new Map<string, NewAgent>();
  readonly #names = new Map<string, string>();
  readonly status = new Map<string, Pick<AgentFacts, 'status' | 'disconnectedAt'>>();

  register(agent: NewAgent): Promise<void> {
    this.#remove(agent.replaces);
    const other = this.#names.get(agent.name);
    if (other !== undefined && other !== agent.id) {
      return Promise.reject(new TableRefusedError(`${agent.name} is agent ${other}`));
    }
    this.#set(agent);
    return Promise.resolve();
  }

  remove(ids: readonly string[]): Promise<void> {
    this.#remove(ids);
    return Promise.resolve();
  }

  rename(agent: TableAgent): Promise<void> {
    const row = this.rows.get(agent.id);
    if (row !== undefined) this.#set({ ...row, ...agent });
    return Promise.resolve();
  }

  #set(agent: NewAgent): void {
    this.#remove([agent.id]);
    this.rows.set(agent.id, agent);
    this.#names.set(agent.name, agent.id);
  }

  #remove(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.rows.get(id);
      if (row !== undefined && this.#names.get(row.name) === id) this.#names.delete(row.name);
      this.rows.delete(id);
    }
  }

  facts(id: string): Promise<AgentFacts | undefined> {
    const row = this.rows.get(id);
    if (row === undefined) return Promise.resolve(undefined);
    const { status, disconnectedAt } = this.status.get(id) ?? { status: 'never_connected', disconnectedAt: 0 };
    return Promise.resolve({ status, disconnectedAt, registeredAt: row.dateAdd });
  }

  all(): Promise<readonly TableAgent[]> {
    return Promise.resolve([...this.rows.values()]);
  }

  incarnation(): Promise<string> {
    return Promise.resolve('1');
  }
}

/** What an agent may be replaced by: everything else is refused for an hour. */
export const FORCE: EnrollmentCandidate['force'] = {
  enabled: true,
  key_mismatch: true,
  disconnected_time: { enabled: true, seconds: 3600 },
  after_registration_time: 3600,
};

export type AuthdNodeOptions = {
  readonly name: string;
  readonly client: ClusterdClient;
  /** One that was used before; a new one otherwise. */
  readonly home?: TemporaryHome;
  readonly table?: MemoryTable;
  /** Seconds since 1970. */
  readonly now?: () => number;
  /** Runs before the key file is written. */
  readonly prepare?: () => Promise<void>;
};

/** svc-authd of one node of a cluster in memory: all of it but its sockets. */
export class AuthdNode {
  private constructor(
    readonly name: string,
    readonly home: TemporaryHome,
    readonly table: MemoryTable,
    readonly logger: RecordingLogger,
    readonly registry: KeyRegistry,
    readonly cluster: ClusterAgents,
    readonly enroller: Enroller,
    readonly times: RegistrationTimes,
    readonly parts: DaemonParts,
  ) {}

  static async start(options: AuthdNodeOptions): Promise<AuthdNode> {
    const { name, client, home = new TemporaryHome(), table = new MemoryTable() } = options;
    const now = options.now ?? (() => Math.floor(Date.now() / 1000));
    mkdirSync(home.path('queue', 'rids'), { recursive: true });
    const logger = new RecordingLogger();
    const parts = new DaemonParts();
    const groups = new RequestedGroups(home.path('queue', 'agents-requested-groups'));
    const guard = new ReplacementGuard(() => now() * 1000);
    const purge = () => false;
    const registry: KeyRegistry = new KeyRegistry({
      path: home.path('etc', 'client.keys'),
      lastIdPath: home.path('queue', 'agents-last-id'),
      logger,
      prepare: async () => {
        await options.prepare?.();
        await groups.save();
      },
      onReplaced: () => {
        cluster.fileReplaced();
      },
    });
    const times = parts.use(new RegistrationTimes(home.path('queue', 'agents-timestamp'), registry, logger));
    const common = { home, logger, node: name, registry, times, groups, guard, purge, now, owner: undefined };
    const cluster: ClusterAgents = parts.use(new ClusterAgents({ ...common, client }));
    const registrar = parts.use(new AgentRegistrar(table, cluster.known, times, groups, logger, now));
    parts.defer(() => registry.idle());
    await Promise.all([times.load(), groups.load(), registry.load()]);
    const isNameUsed = (used: string) => cluster.keys.byName(used) !== undefined;
    const upkeep = new AgentUpkeep({ home, registrar, times, groups, isNameUsed, logger });
    const managerName = 'the-manager';
    const enroller = new Enroller({ keys: cluster.keys, registrar, times, guard, logger, purge, now, managerName });
    registrar.start();
    cluster.start(registrar, upkeep);
    return new AuthdNode(name, home, table, logger, registry, cluster, enroller, times, parts);
  }

  get isLoaded(): boolean {
    return this.cluster.counters.loaded;
  }

  loaded(): Promise<unknown> {
    return eventually(`${this.name} has the agents of the cluster`, () => this.isLoaded);
  }

  /** Enrols a host. */
  /** @param isWanted whether somebody still waits for it */
  add(
    name: string,
    more: Partial<EnrollmentCandidate> & { readonly ip?: string } = {},
    isWanted?: () => boolean,
  ): Promise<AgentKey> {
    const { ip = 'any', ...rest } = more;
    const address = AgentAddress.parse(ip);
    if (address === undefined) throw new TypeError(ip);
    const source = `192.0.2.${String(1 + (name.length % 200))}`;
    const candidate = { name, address, groups: undefined, keyHash: undefined, source, force: FORCE, ...rest };
    return this.enroller.add(candidate, isWanted);
  }

  /** Lines of the key file. */
  get lines(): string[] {
    const path = this.home.path('etc', 'client.keys');
    if (!existsSync(path)) return [];
    return readFileSync(path, 'latin1')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Those of agents that were not removed, by id. */
  get live(): string[] {
    return this.lines.filter((line) => !line.includes(' !')).sort();
  }

  /** Stops it; the home stays. */
  stop(): Promise<unknown> {
    return this.parts.stop();
  }
}
