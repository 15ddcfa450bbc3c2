import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { RunningDaemon } from '../daemon/running-daemon.js';
import type { NatsServers } from '../nats/nats-servers.js';
import { TemporaryHome } from '../temporary-home.js';

export type ClusterHomeOptions = {
  /** XML beside `<cluster>` in the main configuration. */
  readonly configuration?: string;
  /** Another key than the cluster's. */
  readonly key?: string;
  /** Own files, before the daemons start. */
  readonly prepare?: (home: TemporaryHome) => void;
};

/** One node of a cluster: a temporary home, and daemons on it as children of the test. */
export class ClusterHome {
  readonly home = new TemporaryHome();
  readonly clusterd: RequestClient<typeof clusterdContract>;
  readonly #daemons = new Map<DaemonName, RunningDaemon>();

  constructor(
    readonly node: string,
    servers: NatsServers,
    { configuration = '', key = servers.key, prepare }: ClusterHomeOptions = {},
  ) {
    this.clusterd = new RequestClient({ contract: clusterdContract, path: this.home.socket('svc-clusterd') });
    const files = servers.files(node);
    mkdirSync(this.home.path('etc', 'cluster'));
    copyFileSync(files.ca, this.home.path('etc', 'cluster', 'ca.pem'));
    copyFileSync(files.credential, this.home.path('etc', 'cluster', 'node.nk'));
    const nodes = servers.urls.map((url) => `<node>${url}</node>`).join('');
    const cluster = `<cluster><name>${servers.plan.name}</name><node_name>${node}</node_name><key>${key}</key>
      <nodes>${nodes}</nodes><disabled>no</disabled></cluster>`;
    const text = `<ossec_config>${cluster}${configuration}</ossec_config>`;
    for (const name of ['manager.conf', 'ossec.conf']) writeFileSync(this.home.path('etc', name), text);
    prepare?.(this.home);
  }

  /** Starts daemons in this order. */
  async start(...names: readonly DaemonName[]): Promise<void> {
    for (const name of names) this.#daemons.set(name, await RunningDaemon.start(name, this.home));
  }

  /** A daemon that was started. */
  daemon(name: DaemonName): RunningDaemon {
    const daemon = this.#daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} of ${this.node} was not started`);
    return daemon;
  }

  /** Sends a signal to one daemon, or to all. */
  signal(signal: NodeJS.Signals, ...names: readonly DaemonName[]): void {
    const chosen = names.length > 0 ? names.map((name) => this.daemon(name)) : [...this.#daemons.values()];
    for (const daemon of chosen) daemon.process.kill(signal);
  }

  /** Ends one daemon, or all in the reverse order of their start. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', ...names: readonly DaemonName[]): Promise<void> {
    const chosen = names.length > 0 ? names : [...this.#daemons.keys()].reverse();
    for (const name of chosen) await this.daemon(name).stop(signal);
  }

  async close(): Promise<void> {
    this.clusterd.close();
    // One that stands still hears nothing else.
    for (const daemon of this.#daemons.values()) await daemon.stop('SIGKILL');
    this.home.remove();
  }
}
