import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitordContract } from '../../lib/bus/contracts/monitord.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { eventually } from '../support/eventually.js';
import { removeTree } from '../support/remove-tree.js';
import { AttackedLog } from './attacked-log.js';
import { type Firewall, KernelFirewall, RecordedFirewall } from './firewall.js';
import { StoryAlerts } from './story-alerts.js';
import { agentConfiguration, managerConfiguration, type StoryPorts } from './story-configuration.js';
import { StoryHost } from './story-host.js';
import { StoryReceivers } from './story-receivers.js';

/** Below those that the system gives out: a daemon that was killed finds its port free. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
/** Syslog, mail and index. */
const OUTPUTS = 3;

export type StageOptions = {
  /** Seconds that addresses are dropped for, in the first and the second part. */
  readonly short: number;
  readonly long: number;
  /** Address on the white list. */
  readonly friend: string;
  /** Whether the firewall is the story's own. */
  readonly ownNetwork: boolean;
  readonly say: (text: string) => void;
};

/** Two homes in a temporary directory, what stands around them, and the end of all that. */
export class Stage {
  readonly manager: StoryHost;
  readonly agent: StoryHost;
  readonly receivers = new StoryReceivers();
  readonly alerts: StoryAlerts;
  readonly log: AttackedLog;
  readonly #directory: string;
  readonly #monitord: RequestClient<typeof monitordContract>;
  #firewall: Firewall | undefined;

  constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'svc-story-'));
    this.manager = new StoryHost(join(this.#directory, 'manager'), [
      ...(['svc-db', 'svc-analysisd', 'svc-authd', 'svc-remoted', 'svc-monitord', 'svc-execd'] as const),
    ]);
    this.agent = new StoryHost(join(this.#directory, 'agent'), ['svc-agentd', 'svc-logcollector', 'svc-execd']);
    this.#monitord = new RequestClient({
      contract: monitordContract,
      path: this.manager.home.socket('svc-monitord'),
    });
    this.alerts = new StoryAlerts(this.manager.home);
    this.log = new AttackedLog(join(this.#directory, 'auth.log'));
  }

  get firewall(): Firewall {
    if (this.#firewall === undefined) throw new Error('the stage is not set');
    return this.#firewall;
  }

  /** Makes both homes and starts them; resolves when the agent is at work. */
  async set(options: StageOptions): Promise<void> {
    const { say, short, long } = options;
    say(`Making a manager and an agent in ${this.#directory}`);
    await this.receivers.start();
    const { manager, agent, receivers } = this;
    await Promise.all([manager.run('svc-control', 'init'), agent.run('svc-control', 'init', '--agent')]);
    this.#firewall = options.ownNetwork
      ? new KernelFirewall()
      : new RecordedFirewall(
          join(this.#directory, 'tools'),
          agent.home.path('active-response', 'bin', 'firewall-drop'),
        );
    say(`Firewall: ${this.#firewall.name}`);
    const ports: StoryPorts = {
      agents: await freePort(),
      enrollment: await freePort(),
      syslog: receivers.syslog.port,
      smtp: receivers.smtp.port,
      indexer: receivers.indexer.url,
    };
    writeFileSync(manager.home.path('etc', 'manager.conf'), managerConfiguration(ports, options));
    writeFileSync(manager.home.path('etc', 'local_internal_options.conf'), 'maild.grouping=0\nmaild.full_subject=1\n');
    writeFileSync(manager.home.path('api', 'configuration', 'api.yaml'), "host: ['127.0.0.1']\nport: 0\n");
    writeFileSync(agent.home.path('etc', 'manager.conf'), agentConfiguration(ports, this.log.path));
    await manager.run('svc-control', 'start');
    await agent.run('agent-auth', '-m', '127.0.0.1', '-p', String(ports.enrollment), '-A', 'web1');
    await agent.run('svc-control', 'start');
    // Alerts are handed on from the beginning of an output on.
    const begun = async (): Promise<boolean> =>
      Object.keys((await this.#monitord.call('stats', {}))['outputs'] as object).length === OUTPUTS;
    await eventually('the outputs have begun', begun);
    this.alerts.forget();
    // What may be run there is what the manager has told it.
    const told = (): boolean =>
      [short, long].every((seconds) =>
        agent.read('etc', 'shared', 'ar.conf').includes(`firewall-drop${String(seconds)} - firewall-drop`),
      );
    await eventually('the agent is connected and knows of the responses', told);
    say('The agent web1 has enrolled (agent-auth), is connected and knows of the responses.');
  }

  /** Stops everything and, unless it is to be looked at, removes it. @throws Error what did not go, after the rest of it */
  async strike({ keep }: { readonly keep: boolean }): Promise<void> {
    const ends = await Promise.allSettled([
      this.agent.stop().finally(() => this.manager.stop()),
      this.#firewall?.stop(),
    ]);
    this.#monitord.close();
    await this.receivers.stop();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw new Error(`${this.#directory} is left as it is`, { cause: failed.reason });
    if (!keep) removeTree(this.#directory);
  }

  get directory(): string {
    return this.#directory;
  }
}

/** A port of the loopback that nobody listens on, and that the system gives nobody. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        server.close(() => {
          resolve(true);
        });
      });
    });
    if (free) return port;
  }
}
