import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import type { ClusterMember, ClusterPlan } from '../../../bin/control/cluster/cluster-plan.js';
import { writeCluster } from '../../../bin/control/cluster/write-cluster.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { type NatsTls, natsTls } from '../../../lib/cluster/nats-tls.js';
import { eventually } from '../eventually.js';
import type { Place } from '../place.js';
import { removeTree } from '../remove-tree.js';
import { freePortTriples } from './free-ports.js';
import { skipWithoutNatsServer } from './nats-program.js';
import { NatsServer } from './nats-server.js';

export type NatsServersOptions = {
  /** 3 without it. */
  readonly servers?: number;
  /** Managers beside those of the servers, which have credentials and no server: their names. */
  readonly managers?: readonly string[];
  readonly cluster?: string;
  /** Bytes of streams of each server, a limit; 8 GiB without it. */
  readonly storeBytes?: number;
  /** Where each server runs; all on the loopback address without it. */
  readonly places?: readonly Place[];
  /** Where the folders of their stores are, by their names. */
  readonly stores?: string;
};

/** The first of the three of a server that has an address for itself. */
const OWN_PORT = 14_222;
/** A port may be taken between looking and starting. */
const STARTS = 3;
const READY_MS = 30_000;

/**
 * Real NATS servers n1, n2, ... of one cluster on 127.0.0.1, with the files that `svc-control cluster init` makes: TLS, NKeys and
 * permissions as a user has them. Whoever starts them calls `close`, which ends them and removes their files; a suite has
 * `natsServers`.
 */
export class NatsServers {
  readonly plan: ClusterPlan;
  readonly folder: string;
  readonly servers: readonly NatsServer[];
  readonly #connections: NatsConnection[] = [];

  private constructor(plan: ClusterPlan, folder: string, places: readonly Place[]) {
    this.plan = plan;
    this.folder = folder;
    this.servers = plan.members
      .filter(({ server }) => server)
      .map((member, at) => new NatsServer(member, join(folder, member.name), places[at]?.before));
  }

  /** Starts them; resolves when JetStream has a leader. */
  static async start(options: NatsServersOptions = {}): Promise<NatsServers> {
    for (let starts = 1; ; starts += 1) {
      const made = await NatsServers.#make(options);
      try {
        await Promise.all(made.servers.map((server) => server.start()));
        await made.ready();
        return made;
      } catch (error) {
        await made.close();
        if (starts === STARTS) throw error;
      }
    }
  }

  static async #make({
    servers = 3,
    managers = [],
    cluster = 'test',
    storeBytes = 8 * 1024 ** 3,
    places = [],
    stores,
  }: NatsServersOptions): Promise<NatsServers> {
    const parent = mkdtempSync(join(tmpdir(), 'svc-nats-'));
    const folder = join(parent, 'cluster');
    const ports = places.length > 0 ? places.map(() => OWN_PORT) : await freePortTriples(servers);
    const member = (name: string, port: number, server: boolean, host = '127.0.0.1'): ClusterMember => ({
      name,
      host,
      port,
      routePort: port + 2000,
      monitorPort: port + 4000,
      server,
      manager: true,
    });
    const plan: ClusterPlan = {
      name: cluster,
      members: [
        ...ports.map((port, at) => member(`n${at + 1}`, port, true, places[at]?.address)),
        ...managers.map((name) => member(name, 1, false)),
      ],
      serverFolder: ({ name }) => join(folder, name, 'server'),
      storeFolder: ({ name }) => join(stores ?? join(parent, 'store'), name),
      storeBytes,
    };
    await writeCluster(plan, folder, new Date());
    return new NatsServers(plan, folder, places);
  }

  /** What clients connect to. */
  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** @throws Error when there is no such server */
  server(name: string): NatsServer {
    const found = this.servers.find(({ member }) => member.name === name);
    if (found === undefined) throw new Error(`no NATS server ${name}`);
    return found;
  }

  /** Files of a node's manager: authority, seed and cluster.json. */
  files(node: string): { readonly ca: string; readonly credential: string; readonly cluster: string } {
    const file = (name: string) => join(this.folder, node, name);
    return { ca: file('ca.pem'), credential: file('node.nk'), cluster: file('cluster.json') };
  }

  /** How a client of the library knows them. */
  get tls(): NatsTls {
    return natsTls(['127.0.0.1'], { ca: readFileSync(join(this.folder, 'admin', 'ca.pem'), 'utf8') });
  }

  /** The key of all nodes' configuration. */
  get key(): string {
    const node = this.plan.members.find(({ manager }) => manager)?.name ?? '';
    return (JSON.parse(readFileSync(this.files(node).cluster, 'utf8')) as { key: string }).key;
  }

  /**
   * Resolves when all that run are healthy and agree on a leader of JetStream, which one alone does not have.
   * @throws Error with what each says, after so many milliseconds
   */
  async ready(patienceMs = READY_MS): Promise<void> {
    let said: unknown[] = [];
    const isReady = async (): Promise<boolean> => {
      const running = this.servers.filter((server) => server.running);
      const states = await Promise.all(running.map((server) => server.jetStream()));
      const leaders = new Set(states.map((state) => state?.meta_cluster?.leader ?? ''));
      const health = await Promise.all(running.map((server) => server.monitor('/healthz')));
      said = running.map(({ member: { name } }, at) => ({ name, ...states[at]?.meta_cluster, health: health[at] }));
      return leaders.size === 1 && leaders.has('') === (this.servers.length === 1) && !health.includes(undefined);
    };
    try {
      await eventually('JetStream has a leader', isReady, patienceMs);
    } catch (error) {
      throw new Error(`NATS is not ready: ${JSON.stringify(said)}`, { cause: error });
    }
  }

  /** The server that leads JetStream now; undefined while there is none. */
  async leader(): Promise<NatsServer | undefined> {
    for (const server of this.servers) {
      const leader = (await server.jetStream())?.meta_cluster?.leader ?? '';
      if (leader !== '') return this.servers.find(({ member }) => member.name === leader);
    }
    return undefined;
  }

  /** A connection with the credential of a node, as svc-clusterd makes it; closed at the end at the latest. */
  connect(node: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
    const inboxPrefix = clusterSubjects(this.plan.name).inbox(node);
    return this.#connect(join(this.folder, node, 'node.nk'), { inboxPrefix, ...options });
  }

  /** A connection with another credential: `admin` changes streams, `system` looks after servers. */
  connectAs(who: 'admin' | 'system', options: ConnectionOptions = {}): Promise<NatsConnection> {
    return this.#connect(join(this.folder, 'admin', `${who}.nk`), options);
  }

  async #connect(credential: string, options: ConnectionOptions): Promise<NatsConnection> {
    const connection = await connect({
      servers: this.urls,
      authenticator: nkeyAuthenticator(readFileSync(credential).subarray(0, 58)),
      tls: this.tls,
      ...options,
    });
    this.#connections.push(connection);
    return connection;
  }

  /** Ends all, whatever state they are in, and removes their files. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close().catch(() => {})));
    await Promise.all(this.servers.map((server) => server.kill()));
    removeTree(join(this.folder, '..'));
  }
}

/**
 * Servers for the tests of a suite, from before the first to after the last; to be called in its body. The suite is skipped, with a
 * line that says so, where there is no nats-server.
 */
export function natsServers(options: NatsServersOptions = {}): () => NatsServers {
  let started: NatsServers | undefined;
  before(async function () {
    skipWithoutNatsServer(this);
    this.timeout(60_000);
    started = await NatsServers.start(options);
  });
  after(async () => {
    await started?.close();
  });
  return () => {
    if (started === undefined) throw new Error('the NATS servers are not started');
    return started;
  };
}
