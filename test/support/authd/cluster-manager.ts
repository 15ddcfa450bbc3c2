import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { RunningDaemon } from '../daemon/running-daemon.js';
import { eventually } from '../eventually.js';
import type { NatsServers } from '../nats/nats-servers.js';
import type { TemporaryHome } from '../temporary-home.js';
import { authdHome, AuthdServer, liftEnrollmentLimits } from './authd-server.js';

const REMOTE = '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>';
/** As a home has them: what is watched and not there is looked for where it would be, again and again. */
const FOLDERS = ['etc/cluster', 'etc/shared', 'etc/rules', 'etc/decoders', 'etc/lists', 'queue/db'];
const FORCE = '<force><after_registration_time>0</after_registration_time></force>';

/** The daemons of one node that agents have to do with: real processes on a home of their own. */
export class ClusterManager {
  readonly #daemons = new Map<DaemonName, RunningDaemon>();
  #authd: AuthdServer | undefined;

  private constructor(
    readonly node: string,
    readonly home: TemporaryHome,
  ) {}

  /** @param names daemons beside svc-clusterd and svc-authd */
  static async start(servers: NatsServers, node: string, names: readonly DaemonName[]): Promise<ClusterManager> {
    const nodes = servers.urls.map((url) => `<node>${url}</node>`).join('');
    const cluster = `<cluster><name>${servers.plan.name}</name><node_name>${node}</node_name><key>${servers.key}</key>
      <nodes>${nodes}</nodes><disabled>no</disabled></cluster>`;
    const home = await authdHome(FORCE, `${REMOTE}${cluster}`);
    liftEnrollmentLimits(home);
    for (const directory of FOLDERS) mkdirSync(home.path(directory), { recursive: true });
    const files = servers.files(node);
    copyFileSync(files.ca, home.path('etc/cluster/ca.pem'));
    copyFileSync(files.credential, home.path('etc/cluster/node.nk'));
    const manager = new ClusterManager(node, home);
    for (const name of ['svc-clusterd', ...names] as const) await manager.startDaemon(name);
    await manager.startAuthd();
    return manager;
  }

  get authd(): AuthdServer {
    if (this.#authd === undefined) throw new Error(`svc-authd of ${this.node} does not run`);
    return this.#authd;
  }

  /** Starts svc-authd; it has the agents of the cluster when this resolves. */
  async startAuthd(): Promise<void> {
    this.#authd = await AuthdServer.start(this.home);
    await eventually(`${this.node} has the agents of the cluster`, async () => {
      const { cluster } = (await this.authd.client.call('stats', {})) as { cluster?: { loaded: boolean } };
      return cluster?.loaded;
    });
  }

  async startDaemon(name: DaemonName): Promise<void> {
    this.#daemons.set(name, await RunningDaemon.start(name, this.home));
  }

  daemon(name: DaemonName): RunningDaemon {
    const daemon = this.#daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} of ${this.node} was not started`);
    return daemon;
  }

  /** Statistics of its svc-clusterd. */
  async clusterdStats(): Promise<{ readonly records: Readonly<Record<string, number>> }> {
    const client = new RequestClient({ contract: clusterdContract, path: this.home.socket('svc-clusterd') });
    try {
      return (await client.call('stats', {})) as { records: Record<string, number> };
    } finally {
      client.close();
    }
  }

  /** Lines of agents that were not removed, in the order of their ids. */
  get keys(): string[] {
    const lines = readFileSync(this.home.path('etc/client.keys'), 'latin1').split('\n');
    return lines.filter((line) => line !== '' && !line.includes(' !')).sort();
  }

  async close(): Promise<void> {
    await this.#authd?.end('SIGKILL');
    for (const daemon of this.#daemons.values()) await daemon.stop('SIGKILL');
    this.home.remove();
  }
}
