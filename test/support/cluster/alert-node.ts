import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../daemon/running-daemon.js';
import { AlertFiles, sampleAlert } from '../monitord/alert-files.js';
import type { NatsServers } from '../nats/nats-servers.js';
import { TemporaryHome } from '../temporary-home.js';

/** A node of a cluster whose outputs hand on the alerts of all nodes; a test writes what svc-analysisd would. */
export class AlertNode {
  readonly home = new TemporaryHome();
  /** Ids of the alerts that were written. */
  readonly written: string[] = [];
  /** Says whose alerts outputs hand on, for daemons that are started then. */
  readonly configure: (outputs: 'node' | 'cluster') => void;
  readonly #files: AlertFiles;
  readonly #daemons = new Map<DaemonName, RunningDaemon>();

  /** @param configuration XML beside `<cluster>` @param megabytes of the stream */
  constructor(
    readonly name: string,
    servers: NatsServers,
    configuration = '',
    megabytes = 32,
  ) {
    this.configure = (outputs) => {
      const nodes = servers.urls.map((url) => `<node>${url}</node>`).join('');
      const alerts = `<alerts><outputs>${outputs}</outputs><megabytes>${String(megabytes)}</megabytes></alerts>`;
      const cluster = `<cluster><name>${servers.plan.name}</name><node_name>${name}</node_name><key>${servers.key}</key>
        <nodes>${nodes}</nodes>${alerts}<disabled>no</disabled></cluster>`;
      writeFileSync(this.home.path('etc', 'manager.conf'), `<ossec_config>${cluster}${configuration}</ossec_config>`);
    };
    const { ca, credential } = servers.files(name);
    const options = fileURLToPath(new URL('etc/internal_options.conf', productRoot()));
    copyFileSync(options, this.home.path('etc', 'internal_options.conf'));
    for (const directory of ['etc/cluster', 'logs/alerts', 'queue/outputs']) {
      mkdirSync(this.home.path(directory), { recursive: true });
    }
    copyFileSync(ca, this.home.path('etc', 'cluster', 'ca.pem'));
    copyFileSync(credential, this.home.path('etc', 'cluster', 'node.nk'));
    this.configure('cluster');
    this.#files = new AlertFiles(this.home.path('logs', 'alerts'));
  }

  /** Writes so many alerts. @param log what they are about, where it matters */
  write(count: number, log?: () => string): void {
    for (let index = 0; index < count; index += 1) {
      const id = `${this.name}.${String(this.written.length)}`;
      this.written.push(id);
      this.#files.write(sampleAlert({ id, ...(log === undefined ? {} : { full_log: log() }) }));
    }
  }

  async start(...names: readonly DaemonName[]): Promise<void> {
    for (const name of names) this.#daemons.set(name, await RunningDaemon.start(name, this.home));
  }

  /** `kill -9` of all that run. */
  async kill(): Promise<void> {
    await Promise.all([...this.#daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
  }

  /** An orderly stop of all that run. */
  async stop(): Promise<void> {
    for (const daemon of [...this.#daemons.values()].reverse()) await daemon.stop();
  }

  /** What its daemons have said. */
  get output(): string {
    return [...this.#daemons.values()].map(({ output }) => output).join('\n');
  }

  async close(): Promise<void> {
    await this.kill();
    this.#files.close();
    this.home.remove();
  }
}
