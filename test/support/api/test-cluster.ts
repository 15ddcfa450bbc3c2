import { writeFileSync } from 'node:fs';
import type { ApiSettings } from '../../../api/api-settings.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallParams, CallResult, MethodName } from '../../../lib/bus/contract.js';
import { apidContract } from '../../../lib/bus/contracts/apid.js';
import type { clusterdContract, ClusterNode, ClusterView } from '../../../lib/bus/contracts/clusterd.js';
import { decodeMessage, encodeMessage } from '../../../lib/bus/message-codec.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import { FakeCluster } from '../cluster/fake-cluster.js';
import { DbServer } from '../db/db-server.js';
import { ListCaller } from './api-list.js';
import { FakeAlerts } from './fake-alerts.js';
import { TestApi } from './test-api.js';

const KEY = 'k'.repeat(32);

/** A node of a {@link TestCluster}. */
export type TestNode = {
  readonly name: string;
  readonly api: TestApi;
  readonly lists: ListCaller;
  db: DbServer;
  readonly alerts: FakeAlerts;
};

/** Requests that were brought from one node to another. */
export type AskedNode = {
  readonly from: string;
  readonly node: string;
  readonly method: string;
  readonly params: unknown;
};

/**
 * Several nodes in this process, each an API and an svc-db with a home of its own; what they ask each other goes through
 * the encoding of the bus, and no NATS server.
 */
export class TestCluster {
  readonly records = new FakeCluster();
  readonly nodes = new Map<string, TestNode>();
  readonly asked: AskedNode[] = [];
  /** Nodes that are not heard. */
  readonly away = new Set<string>();
  /** Nodes that are heard and never answer. */
  readonly silent = new Set<string>();
  /** What nodes say of themselves. */
  readonly facts = new Map<string, ClusterNode['facts']>();
  master: string | null = null;

  /** @param patient as of `TestApi` */
  static async start(
    names: readonly string[],
    settings: Partial<ApiSettings> = {},
    patient = false,
  ): Promise<TestCluster> {
    const cluster = new TestCluster();
    await Promise.all(names.map((name) => cluster.#add(name, settings, patient)));
    return cluster;
  }

  node(name: string): TestNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  /** Agents 001 to `count` are in the registry of every node; each is on the node that `place` says. */
  async fill(count: number, place: (id: number) => string): Promise<void> {
    for (const { db } of this.nodes.values()) {
      await db.fill(count);
      for (let from = 1; from <= count; from += 5000) {
        await db.registry.edit((edit) => {
          for (let id = from; id < Math.min(count + 1, from + 5000); id += 1) {
            const { record } = db.registry.agents.get(id)!;
            edit.setAgent(id, { ...record, status: 'active', nodeName: place(id) });
          }
        });
      }
    }
  }

  async remove(): Promise<void> {
    for (const { api, db } of this.nodes.values()) {
      await api.stop();
      await db.stop();
      await api.remove();
    }
  }

  async #add(name: string, settings: Partial<ApiSettings>, patient: boolean): Promise<void> {
    const api = new TestApi();
    api.patient = patient;
    api.clusterd = this.#clusterd(name);
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 }, ...settings });
    writeFileSync(
      api.home.path('etc/manager.conf'),
      `<manager_config><cluster><name>lab</name><node_name>${name}</node_name><key>${KEY}</key><nodes><node>192.0.2.1</node></nodes></cluster></manager_config>\n`,
    );
    const alerts = new FakeAlerts();
    const db = await DbServer.start(api.home, () => api.now, name, alerts.handlers);
    this.nodes.set(name, { name, api, db, lists: new ListCaller(api), alerts });
  }

  #clusterd(self: string): ClusterdClient {
    const records = this.records.client(self);
    return {
      call: async <K extends MethodName<typeof clusterdContract>>(
        method: K,
        params: CallParams<typeof clusterdContract, K>,
        options: { readonly deadlineMs?: number; readonly signal?: AbortSignal } = {},
      ) => {
        if (method === 'cluster.view') return this.#view(self) as CallResult<typeof clusterdContract, K>;
        if (method !== 'nodes.ask') return records.call(method, params, options);
        const asked = params as CallParams<typeof clusterdContract, 'nodes.ask'>;
        return { result: await this.#ask(self, asked, options.signal) } as CallResult<typeof clusterdContract, K>;
      },
    };
  }

  async #ask(
    from: string,
    { node, method, params, deadlineMs }: CallParams<typeof clusterdContract, 'nodes.ask'>,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const there = this.nodes.get(node);
    if (there === undefined) throw new BusError('unknown_node', `no node ${node}`);
    if (this.away.has(node)) throw new BusError('node_away', `${node} is not heard`);
    const contract = apidContract.methods[method as 'api.run'];
    const sent: unknown = decodeMessage(encodeMessage(params));
    this.asked.push({ from, node, method, params: sent });
    if (this.silent.has(node)) {
      await new Promise<void>((_resolve, reject) => {
        const timer = setTimeout(() => reject(new BusError('node_timeout', 'nothing was heard')), deadlineMs);
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason as Error);
        });
      });
    }
    const parsed = contract.params.safeParse(sent);
    if (!parsed.success) throw new BusError('bad_params', parsed.error.message);
    const handle = there.api.api.handlers[method as 'api.run'];
    return decodeMessage(encodeMessage(await handle(parsed.data)));
  }

  #view(self: string): ClusterView {
    const nodes = [...this.nodes.keys()].sort().map((name): ClusterNode => {
      const isSelf = name === self;
      return {
        name,
        type: name === this.master ? 'master' : 'worker',
        version: '0.1.0',
        ip: `192.0.2.${name.at(-1) ?? '1'}`,
        self: isSelf,
        present: isSelf || !this.away.has(name),
        heardAt: Date.parse('2026-05-08T12:34:18.000Z'),
        revision: 1,
        facts: this.facts.get(name) ?? {},
      };
    });
    const { master } = this;
    return { cluster: 'lab', self, connected: true, problem: null, writable: true, master, revision: 1, nodes };
  }
}
