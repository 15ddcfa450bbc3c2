import { type ClusterdClient, SharedRecords } from '../../../lib/cluster/shared-records.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AgentRegistrar, KnownAgents } from '../agent-registrar.js';
import type { AgentUpkeep } from '../agent-upkeep.js';
import type { KeyFileOwner } from '../key-file-writer.js';
import type { KeyRegistry } from '../key-registry.js';
import type { RegistrationTimes } from '../registration-times.js';
import type { ReplacementGuard } from '../replacement-guard.js';
import type { RequestedGroups } from '../requested-groups.js';
import { AgentView } from './agent-view.js';
import { KeyFileView } from './key-file-view.js';
import { LeftOutKeys } from './left-out-keys.js';
import { SharedAgents } from './shared-agents.js';
import { SharedKeys } from './shared-keys.js';

/** What is decided on: agents, and the groups that they ask for. */
const KINDS = ['agent', 'group'] as const;

export type ClusterAgentsParts = {
  readonly home: Home;
  readonly logger: Logger;
  /** The name of this node. */
  readonly node: string;
  readonly registry: KeyRegistry;
  readonly times: RegistrationTimes;
  readonly groups: RequestedGroups;
  readonly guard: ReplacementGuard;
  readonly purge: () => boolean;
  /** Seconds since 1970. */
  readonly now: () => number;
  readonly owner: KeyFileOwner | undefined;
  readonly client: ClusterdClient;
};

/** The agents of the cluster at this node: decided about here and everywhere, and in force here. */
export class ClusterAgents {
  readonly keys: SharedKeys;
  /** What svc-db is to have: the key file says nothing of it until the cluster's agents are known. */
  readonly known: KnownAgents;
  readonly #records: SharedRecords;
  readonly #view: AgentView;
  readonly #file: KeyFileView;
  readonly #parts: ClusterAgentsParts;
  #agents: SharedAgents | undefined;

  constructor(parts: ClusterAgentsParts) {
    const { logger, node, registry, times, purge, client } = parts;
    this.#parts = parts;
    this.#view = new AgentView(logger);
    this.#file = new KeyFileView({ registry, view: this.#view, purge });
    this.#records = new SharedRecords({
      client,
      daemon: 'svc-authd',
      kinds: KINDS,
      owner: {
        seed: (records) => this.#owner.seed(records),
        load: (records) => this.#owner.load(records),
        apply: (changes) => this.#owner.apply(changes),
      },
      logger,
    });
    const [view, records] = [this.#view, this.#records];
    this.known = {
      get agents() {
        return records.loaded ? Array.from(view.agents, ({ agent }) => agent) : registry.agents;
      },
      get complete() {
        return records.loaded;
      },
      dateAdd: (id) => view.find(id)?.record.dateAdd,
    };
    this.keys = new SharedKeys({ records: this.#records, view: this.#view, file: this.#file, times, node, logger });
  }

  /** Counters for scripts. */
  get counters(): { readonly revision: number; readonly loaded: boolean; readonly agents: number } {
    return { revision: this.#records.revision, loaded: this.#records.loaded, agents: this.#view.size };
  }

  /** Begins to follow the cluster. */
  start(registrar: Pick<AgentRegistrar, 'compareAll'>, upkeep: Pick<AgentUpkeep, 'came' | 'went'>): void {
    const { home, owner } = this.#parts;
    this.#agents = new SharedAgents({
      ...this.#parts,
      view: this.#view,
      file: this.#file,
      keys: this.keys,
      records: this.#records,
      registrar,
      upkeep,
      leftOut: new LeftOutKeys(home, new Date(), owner),
    });
    this.#records.start();
  }

  /** The key file is another than the one that was written here. */
  fileReplaced(): void {
    this.#agents?.fileReplaced();
  }

  /** To be called every second. */
  async look(): Promise<void> {
    await this.#agents?.look();
  }

  async close(): Promise<void> {
    await this.#records.close();
    await this.#file.close();
  }

  get #owner(): SharedAgents {
    if (this.#agents === undefined) throw new TypeError('the cluster is not followed yet');
    return this.#agents;
  }
}
