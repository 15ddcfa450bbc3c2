import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterdContract, type ClusterView } from '../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { endProcessesOfHome, processesOfHome, signalProcess } from '../chaos/processes-of-home.js';
import { StoryHost } from '../story/story-host.js';
import { ApiClient } from '../support/api/api-client.js';
import { eventually } from '../support/eventually.js';
import { LOOPBACK, type Place } from '../support/place.js';

const DAEMONS = [
  'svc-db',
  'svc-analysisd',
  'svc-execd',
  'svc-authd',
  'svc-remoted',
  'svc-monitord',
  'svc-clusterd',
  'svc-apid',
] as const;
/** A machine that starts three managers takes its time. */
const UP_MS = 120_000;

const configuration = (address: string): string => `<manager_config>
  <global><jsonout_output>yes</jsonout_output></global>
  <ruleset>
    <decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir>
    <decoder_dir>etc/decoders</decoder_dir><rule_dir>etc/rules</rule_dir>
  </ruleset>
  <remote><connection>secure</connection><protocol>tcp</protocol><local_ip>${address}</local_ip><port>0</port></remote>
  <auth><disabled>no</disabled><local_ip>${address}</local_ip><port>0</port></auth>
  <syscheck><disabled>yes</disabled></syscheck>
  <rootcheck><disabled>yes</disabled></rootcheck>
  <sca><enabled>no</enabled></sca>
  <wodle name="syscollector"><disabled>yes</disabled></wodle>
</manager_config>
`;

/** A body of the API's answers, as far as it is looked at. */
export type ApiBody = {
  readonly error?: number;
  readonly detail?: string;
  readonly data?: {
    readonly affected_items?: readonly Record<string, unknown>[];
    readonly failed_items?: readonly { readonly error?: { readonly code?: number } }[];
    readonly total_affected_items?: number;
    readonly id?: string;
    readonly key?: string;
  };
};
/** XML for the main configuration of each node: its own, and what stands in the `<cluster>` that `join` wrote. */
export type NodeAdditions = { readonly configuration: string; readonly cluster: string };
export type ApiAnswer = { readonly status: number; readonly body: ApiBody };

/** A manager that is a node of a cluster: a home of its own, run as a user does. */
export class ManagerNode {
  readonly host: StoryHost;
  readonly #clusterd: RequestClient<typeof clusterdContract>;
  #api: ApiClient;

  /**
   * @param place where it runs
   * @param first the node whose passwords are those of all; without it this one
   */
  constructor(
    readonly name: string,
    directory: string,
    place: Place = LOOPBACK,
    private readonly first?: ManagerNode,
  ) {
    this.host = new StoryHost(join(directory, name), DAEMONS, place);
    this.#clusterd = new RequestClient({ contract: clusterdContract, path: this.host.home.socket('svc-clusterd') });
    this.#api = this.#client();
  }

  #client(): ApiClient {
    return new ApiClient(this.host.home, undefined, this.first?.host.home, this.host.place.address);
  }

  /** Makes the home and has it join, as docs/cluster.md says. @param folder what `svc-control cluster init` made for it */
  async make(folder: string, additions: NodeAdditions): Promise<void> {
    const { host } = this;
    const { address } = host.place;
    await host.run('svc-control', 'init');
    const file = host.home.path('etc', 'manager.conf');
    writeFileSync(
      file,
      configuration(address).replace('</manager_config>', `${additions.configuration}</manager_config>`),
    );
    writeFileSync(
      host.home.path('api', 'configuration', 'api.yaml'),
      `host: ['${address}']\nport: 0\naccess:\n  max_request_per_minute: 0\n`,
    );
    await host.run('svc-control', 'cluster', 'join', folder);
    const joined = readFileSync(file, 'utf8');
    writeFileSync(file, joined.replace('</cluster>', `${additions.cluster}</cluster>`));
  }

  /** Resolves when all its daemons run. */
  async start(): Promise<void> {
    await this.host.run('svc-control', 'start');
    this.#api = this.#client();
    await eventually(`${this.name} runs`, async () => (await this.host.missing()).length === 0, UP_MS);
  }

  /** `kill -9` of the supervisor and of all daemons. */
  kill(): Promise<void> {
    return endProcessesOfHome(this.host.home.root);
  }

  /** Sends a signal to every process of it. */
  signal(signal: NodeJS.Signals): void {
    for (const identity of processesOfHome(this.host.home.root)) signalProcess(identity, signal);
  }

  /** What it knows of the cluster; undefined while it does not answer. */
  async view(): Promise<ClusterView | undefined> {
    return this.#clusterd.call('cluster.view', {}, { deadlineMs: 2000 }).catch(() => undefined);
  }

  /** A request of its API; undefined when there was no answer. */
  async api(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer | undefined> {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await this.#api.call(method, path, { ...type, ...headers }, text);
    if (answer === undefined) return undefined;
    return { status: answer.status, body: JSON.parse(answer.text === '' ? '{}' : answer.text) as ApiBody };
  }

  async end(): Promise<void> {
    this.#clusterd.close();
    await this.host.stop();
  }
}
