import type { HandlerParams, HandlerResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import { type PresenceBatch, presenceMethods } from '../../../lib/bus/contracts/db-presence.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import { Singleton } from '../../../lib/cluster/singleton.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { type AgentRecord, type AgentRow, MANAGER_ID } from '../agent-record.js';
import type { Edit, RowObserver } from '../edit.js';
import type { Registry } from '../registry.js';
import { decodeBeats } from './beats.js';
import { ClusterNodes } from './cluster-nodes.js';
import { LostAgents } from './lost-agents.js';
import { MergeRows } from './merge-rows.js';
import { type AgentRows, MovedRows } from './moved-rows.js';
import { Outgoing } from './outgoing.js';
import type { Owners } from './owners.js';
import { Ownership } from './ownership.js';
import { Peers } from './peers.js';
import { presencePage } from './presence-page.js';

export type AgentPresenceParts = {
  readonly registry: Registry;
  readonly client: ClusterdClient;
  /** Name of this node. */
  readonly node: string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is not set. */
  readonly monotonic: () => number;
  /** Told of agents that were this node's and are another's now. */
  readonly lost?: (id: number) => void;
  /** What is stored of agents, and has to follow them. */
  readonly rows?: AgentRows;
};

type Asked<K extends keyof typeof presenceMethods> = HandlerParams<typeof dbContract, K>;
type Answer<K extends keyof typeof presenceMethods> = HandlerResult<typeof dbContract, K>;

/** What is new is told this often. */
export const TELL_MS = 1000;
/** Without news the others are told where they should be by now: every so many turns. */
const QUIET_TURNS = 5;
/** Longest wait for a page of another node. */
const ASK_MS = 20_000;
/** What had no room is asked for again after so long. */
const CROWDED_OUT_MS = 10_000;
/** After a break of the connection, until the other nodes are heard. */
const HEARING_MS = 3000;
/** After the start, what depends on what other nodes know waits for it so long. */
const SETTLE_MS = 5000;
const SETTLE_LOOK_MS = 100;
const SECOND_MS = 1000;

/**
 * Where agents are, and how, known at every node of a cluster (architecture.md 4 "Cluster"): the node that an agent is connected to
 * writes its row and tells the others, who miss nothing for long.
 */
export class AgentPresence implements Owners, RowObserver {
  readonly #parts: AgentPresenceParts;
  readonly #ownership: Ownership;
  readonly #outgoing: Outgoing;
  readonly #merge: MergeRows;
  readonly #nodes: ClusterNodes;
  readonly #peers: Peers;
  readonly #lost: LostAgents;
  readonly #log: LimitedLogger;
  readonly #stopped = new AbortController();
  readonly #startedAt: number;
  readonly #running = new Map<string, Promise<void>>();
  /** Since when it is not known what other nodes know; undefined while it is. */
  #uncertainSince: number | undefined;
  readonly #rows: MovedRows;
  #quiet = 0;
  #beats = 0;

  constructor(parts: AgentPresenceParts) {
    const { registry, client, node, logger, now, monotonic, lost = () => {} } = parts;
    this.#parts = parts;
    this.#log = logger.limited();
    this.#startedAt = monotonic();
    this.#nodes = new ClusterNodes({ client, node, monotonic, now });
    this.#ownership = new Ownership(node, () => this.#nodes.isFresh);
    this.#outgoing = new Outgoing(registry, node);
    this.#rows = new MovedRows(registry, (row) => this.isOwn(row), parts.rows);
    this.#merge = new MergeRows({ registry, outgoing: this.#outgoing, ownership: this.#ownership, lost });
    this.#lost = new LostAgents({
      registry,
      outgoing: this.#outgoing,
      nodes: this.#nodes,
      lease: new Singleton(client, monotonic),
      mayDisconnect: (seconds) => this.mayDisconnect(seconds),
    });
    this.#peers = new Peers({
      merge: this.#merge,
      node,
      ask: async (peer, params) => {
        const asked = { node: peer, daemon: 'svc-db', method: 'agents.presence_page', params } as const;
        const answer = await client.call(
          'nodes.ask',
          { ...asked, deadlineMs: ASK_MS },
          { deadlineMs: ASK_MS + SECOND_MS },
        );
        return answer.result;
      },
      read: (answer) => presenceMethods['agents.presence_page'].result.parse(answer),
      monotonic,
      log: this.#log,
    });
  }

  /** Takes over agents that were this manager's before it was part of a cluster. */
  async start(): Promise<void> {
    const { registry } = this.#parts;
    registry.observe(this);
    await registry.edit((edit) => {
      for (const row of registry.agents.byId()) {
        const { claim, status } = row.record;
        const isNew = claim === undefined && status !== 'never_connected' && row.id !== MANAGER_ID;
        if (isNew) edit.setAgent(row.id, this.#ownership.claimed(row.record));
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }

  /** Once a second: tells what is new, and looks what was missed. What takes longer is not begun twice. */
  async turn(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#rows.fetch();
    await Promise.all([
      this.#once('tell', () => this.#tell()),
      this.#once('look', () => this.#look()).then(() => this.#once('catch up', () => this.#catchUp())),
    ]);
  }

  async #once(what: string, work: () => Promise<void>): Promise<void> {
    let running = this.#running.get(what);
    if (running === undefined) {
      running = work().finally(() => this.#running.delete(what));
      this.#running.set(what, running);
    }
    await running;
  }

  stats(): Record<string, unknown> {
    return {
      waiting: this.#outgoing.waiting,
      aside: this.#merge.aside,
      told: { ...this.#outgoing.counters },
      heard: { ...this.#peers.counters, beats: this.#beats, ...this.#merge.counters },
    };
  }

  isOwn(row: AgentRow): boolean {
    return this.#ownership.isOwn(row);
  }

  prepare(agents: readonly string[]): Promise<void> {
    return this.#rows.prepare(agents);
  }

  take(edit: Edit, row: AgentRow): void {
    const { nodeName } = row.record;
    if (this.#ownership.take(edit, row)) this.#rows.took(row.id, nodeName);
  }

  beat(row: AgentRow): void {
    this.#outgoing.noteBeat(row.id);
  }

  /** Not while others may have the agents, unless that is not to be learned for so long that it must do without. */
  mayDisconnect(seconds: number): boolean {
    if (this.#isCurrent()) return true;
    if (!this.#nodes.isFresh || this.#uncertainSince === undefined) return false;
    return this.#parts.monotonic() - this.#uncertainSince >= seconds * SECOND_MS;
  }

  async settled(): Promise<void> {
    while (!this.#isCurrent() && this.#parts.monotonic() - this.#startedAt < SETTLE_MS) {
      if (this.#stopped.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_LOOK_MS));
    }
  }

  stamped(before: AgentRecord, next: AgentRecord): AgentRecord {
    return this.#ownership.stamped(before, next);
  }

  relabelled(record: AgentRecord): AgentRecord {
    return this.#ownership.relabelled(record);
  }

  committed(agents: ReadonlySet<number>): void {
    for (const id of agents) {
      const row = this.#parts.registry.agents.get(id);
      if (row?.record.nodeName === this.#ownership.node) this.#outgoing.noteRow(id);
    }
  }

  handlers() {
    return {
      'agents.presence': async (batch: Asked<'agents.presence'>): Promise<Answer<'agents.presence'>> => {
        await this.#hear(batch);
        return {};
      },
      'agents.presence_page': (params: Asked<'agents.presence_page'>): Answer<'agents.presence_page'> => {
        const { registry, node } = this.#parts;
        return presencePage({ registry, outgoing: this.#outgoing, node, marks: () => this.#peers.marks }, params);
      },
      'agents.lost': (params: Asked<'agents.lost'>): Promise<Answer<'agents.lost'>> => this.#lost.judge(params),
    };
  }

  async #hear(batch: PresenceBatch): Promise<void> {
    const { registry, node } = this.#parts;
    if (batch.node === node) {
      this.#log.error(`Another node of the cluster calls itself '${node}', too: give it another <node_name>.`);
      return;
    }
    try {
      await this.#merge.apply(batch.rows, batch);
    } catch (error) {
      if (this.#nodes.present.has(batch.node)) this.#peers.refused(batch.node);
      throw error;
    }
    decodeBeats(batch.beats, (id, time) => {
      const row = registry.agents.get(id);
      if (row === undefined || row.record.nodeName !== batch.node || row.id === MANAGER_ID) return;
      this.#beats += 1;
      registry.touchOther(row, time);
    });
    // Those of a node that is not heard are asked for when it is.
    if (this.#nodes.present.has(batch.node)) this.#peers.took(batch);
  }

  async #tell(): Promise<void> {
    const batches = this.#outgoing.take();
    for (const batch of batches) {
      const isNews = batch.rows.length > 0 || batch.beats.length > 0;
      this.#quiet = isNews ? 0 : this.#quiet + 1;
      if (!this.#nodes.connected || (!isNews && this.#quiet % QUIET_TURNS !== 1)) continue;
      try {
        const told = { daemon: 'svc-db', method: 'agents.presence', params: batch } as const;
        await this.#parts.client.call('nodes.tell', told, { signal: this.#stopped.signal });
      } catch (error) {
        // The others see that a batch is missing, and ask for it.
        this.#log.debug(`Other nodes were not told of agents: ${describeError(error)}`);
      }
    }
  }

  async #look(): Promise<void> {
    const { monotonic } = this.#parts;
    const stoodStill = !this.#nodes.isFresh;
    const before = this.#nodes.present;
    if (await this.#nodes.look()) this.#peers.missed();
    const { present } = this.#nodes;
    if ([...before].some((name) => !present.has(name))) this.#peers.lost();
    if (stoodStill) {
      this.#ownership.stoodStill();
      this.#uncertainSince = monotonic();
    }
    if (this.#isCurrent()) this.#uncertainSince = undefined;
    else this.#uncertainSince ??= monotonic();
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#merge.retryAside();
    } catch (error) {
      this.#log.error(`What other nodes tell of agents waits: ${describeError(error)}`);
    }
    if (this.#merge.takeCrowdedOut()) this.#peers.forget(CROWDED_OUT_MS);
    await this.#peers.catchUp(this.#nodes.present, this.#stopped.signal);
  }

  /** Whether all is known that other nodes know, as of now. */
  #isCurrent(): boolean {
    return this.#nodes.connectedMs >= HEARING_MS && this.#nodes.isFresh && this.#peers.knowsAll(this.#nodes.present);
  }
}
