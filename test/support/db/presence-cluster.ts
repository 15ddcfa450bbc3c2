import { join } from 'node:path';
import { agentConnections } from '../../../daemons/db/agent-connections.js';
import type { AgentRecord } from '../../../daemons/db/agent-record.js';
import { AgentPresence } from '../../../daemons/db/presence/agent-presence.js';
import { presenceRow } from '../../../daemons/db/presence/presence-row.js';
import { Registry } from '../../../daemons/db/registry.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import type { PresenceRow } from '../../../lib/bus/contracts/db-presence.js';
import { decodeMessage, encodeMessage } from '../../../lib/bus/message-codec.js';
import { FakeCluster } from '../cluster/fake-cluster.js';
import { RecordingLogger } from '../recording-logger.js';

type PresenceMethod = 'agents.presence' | 'agents.presence_page' | 'agents.lost';

/** A node as far as svc-db has to do with it: its registry on disk, and what it tells others. */
export class PresenceNode {
  readonly logger = new RecordingLogger();
  registry!: Registry;
  presence!: AgentPresence;
  isUp = false;
  /** Seconds by which its clock is off. */
  skew = 0;

  constructor(
    readonly name: string,
    readonly cluster: PresenceCluster,
    private readonly directory: string,
  ) {}

  /** Seconds since the epoch, as this node has it. */
  get seconds(): number {
    return Math.floor(this.cluster.milliseconds / 1000) + 1_800_000_000 + this.skew;
  }

  async start(): Promise<void> {
    this.registry = await Registry.open(this.directory, () => {});
    this.presence = new AgentPresence({
      registry: this.registry,
      client: this.cluster.fake.client(this.name),
      node: this.name,
      logger: this.logger,
      now: () => this.seconds * 1000,
      monotonic: () => this.cluster.milliseconds,
      lost: (id) => this.lost.push(id),
    });
    await this.presence.start();
    this.isUp = true;
  }
  readonly lost: number[] = [];

  async stop(): Promise<void> {
    this.isUp = false;
    await this.presence.stop();
    await this.registry.close();
  }

  /** Asked over the bus, as it were: all passes the contract and the codec. */
  async call(method: PresenceMethod, params: unknown): Promise<unknown> {
    const schema = dbContract.methods[method];
    const handle = this.presence.handlers()[method] as (params: unknown) => unknown;
    const carried = decodeMessage(encodeMessage(params));
    return decodeMessage(encodeMessage(schema.result.parse(await handle(schema.params.parse(carried)))));
  }

  get connections() {
    return agentConnections(this.registry, () => this.seconds * 1000, this.presence);
  }

  async register(...ids: number[]): Promise<void> {
    await this.registry.edit((edit) => {
      for (const id of ids) {
        const record = { name: `box${id}`, registerIP: 'any', nodeName: 'unknown', dateAdd: 1, groups: ['default'] };
        edit.setAgent(id, { ...record, status: 'never_connected', statusCode: 0, disconnectionTime: 0 });
      }
    });
  }

  /** What svc-remoted tells of an agent. @param whole with everything, as after a connection */
  async keepalive(id: number, whole: boolean): Promise<{ incomplete: string[] }> {
    const text = String(id).padStart(3, '0');
    const changes = { version: `v${String(id)}`, nodeName: this.name, manager: `host-${this.name}` };
    const labels: [string, string][] = [['"site"', this.name]];
    const beat = { id: text, at: this.seconds, ...(whole ? { changes: { ...changes, labels } } : {}) };
    const { incomplete = [] } = await this.connections['agents.keepalives']({ agents: [beat] });
    return { incomplete };
  }

  async status(id: number, status: 'pending' | 'disconnected'): Promise<void> {
    await this.connections['agents.status']({ agents: [{ id: String(id).padStart(3, '0'), status, statusCode: 0 }] });
  }

  record(id: number): AgentRecord | undefined {
    return this.registry.agents.get(id)?.record;
  }

  /** What it would tell others of an agent, without the time of its last keepalive. */
  told(id: number): Omit<PresenceRow, 'lastKeepAlive'> | undefined {
    const row = this.registry.agents.get(id);
    if (row === undefined) return undefined;
    const told = presenceRow(row, this.registry.labels(id));
    if (told === undefined) return undefined;
    const { lastKeepAlive: _time, ...rest } = told;
    return rest;
  }
}

/** Nodes that tell each other of agents, over a network that loses what a test wants lost. */
export class PresenceCluster {
  readonly fake = new FakeCluster();
  readonly nodes: PresenceNode[];
  /** Of a clock that all of this machine have in common. */
  milliseconds = 0;
  /** Whether a tell from one node to another is lost. */
  loses: (from: string, to: string) => boolean = () => false;
  /** Encoded bytes of what was told, once a receiver. */
  bytes = 0;
  #delivering: Promise<unknown>[] = [];

  constructor(directory: string, names: readonly string[]) {
    this.nodes = names.map((name) => new PresenceNode(name, this, join(directory, name)));
    this.fake.hears = (node, other) => this.connects(node, other) && this.node(node).isUp && this.node(other).isUp;
    this.fake.onTell = ({ node, method, params }) => {
      for (const other of this.nodes) {
        if (other.name === node || !this.fake.hears(node, other.name) || this.loses(node, other.name)) continue;
        this.bytes += encodeMessage(params).length;
        this.#delivering.push(other.call(method as PresenceMethod, params).catch(() => {}));
      }
    };
    this.fake.onAsk = ({ node, method, params }, asker = '') => {
      if (!this.fake.hears(asker, node)) throw new BusError('node_away', `node '${node}' is not heard`);
      return this.node(node).call(method as PresenceMethod, params);
    };
  }

  /** Whether there is a way between two nodes. */
  connects: (one: string, other: string) => boolean = () => true;

  node(name: string): PresenceNode {
    const node = this.nodes.find((each) => each.name === name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** A second passes. */
  async second(): Promise<void> {
    this.milliseconds += 1000;
    await Promise.all(this.nodes.filter(({ isUp }) => isUp).map((node) => node.presence.turn()));
    await Promise.all(this.#delivering.splice(0));
  }

  async seconds(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await this.second();
  }

  async start(): Promise<void> {
    for (const node of this.nodes) await node.start();
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) if (node.isUp) await node.stop();
  }
}
