import { setTimeout as delay } from 'node:timers/promises';
import { outputParts } from '../chaos/output-parts.js';
import { Random } from '../chaos/random.js';
import { eventually } from '../support/eventually.js';
import { SyslogServer } from '../support/monitord/syslog-server.js';
import { readOutput } from '../support/read-output.js';
import type { ClusterStage } from './cluster-stage.js';
import { askForOrders, postEvents, sendEvents, tokenIn } from './effect-clients.js';
import { EventHistory } from './event-history.js';
import { ForwardedAlerts } from './forwarded-alerts.js';
import type { History } from './history.js';
import type { ManagerNode, NodeAdditions } from './manager-node.js';
import { OrderAgent } from './order-agent.js';
import { OrderHistory } from './order-history.js';
import { TEST_ADDRESS } from './own-hosts.js';
import { enrol } from './requests.js';

/** The first that enrol. */
const AGENTS = ['001', '002'];
const RULES = `<group name="local,effects,">
  <rule id="100300" level="5"><program_name>^effectsd$</program_name><description>An event of a client.</description></rule>
</group>
`;
/** Faults of others than those that hand alerts on. */
const HAND_ON_ALL_THE_SAME = /NATS server|svc-(?:db|authd|apid|analysisd|execd|remoted)$/;
const END_EXECD = /a manager$|svc-execd$/;
const READY_MS = 120_000;
const SETTLE_MS = 120_000;
const LOOK_MS = 500;
const QUIET_LOOKS = 8;
/** Tokens of events that are sent to see whether everything works. */
const PROBE = 'probe-';

type Say = (text: string) => void;

/**
 * Effects of a cluster: alerts of events that clients send to all nodes, one stream of them at a syslog receiver, and responses at
 * agents that move from node to node; all of it held against what was acknowledged.
 */
export class Effects {
  readonly #syslog = new SyslogServer();
  readonly #events = new EventHistory();
  readonly #orders = new OrderHistory();
  #agents: readonly OrderAgent[] = [];
  #endsOfHandingOn = 0;
  readonly #endsOfExecd = new Map<string, number>();

  /** @param ownHosts whether nodes are on hosts of their own (`OwnHosts`), and not on the loopback address */
  constructor(private readonly ownHosts: boolean) {}

  async open(): Promise<void> {
    // The address of the test is made with the hosts; nobody but them is in this network.
    await this.#syslog.start(0, this.ownHosts ? '0.0.0.0' : undefined);
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    await this.#syslog.stop();
  }

  /** What each node has in its configuration for it. */
  get additions(): NodeAdditions {
    const address = this.ownHosts ? TEST_ADDRESS : '127.0.0.1';
    return {
      configuration: `<syslog_output>
    <server>${address}</server><port>${this.#syslog.port}</port><protocol>tcp</protocol><format>json</format>
  </syslog_output>
  <command><name>note</name><executable>note</executable></command>
  <active-response>
    <command>note</command><location>defined-agent</location><agent_id>${AGENTS.join()}</agent_id><rules_id>100300</rules_id>
  </active-response>
`,
      cluster: '<alerts><outputs>cluster</outputs></alerts>',
    };
  }

  /** Gives the cluster the rule, has agents enrol and connect, and waits until an event at each node has all its effects. */
  async prepare(stage: ClusterStage, history: History): Promise<void> {
    const first = stage.node(0);
    await eventually('the rule is there', async () => {
      const path = '/rules/files/local_rules.xml?overwrite=true';
      const answer = await first.api('PUT', path, RULES, { 'content-type': 'application/octet-stream' });
      return answer?.status === 200 && (answer.body.error ?? 0) === 0;
    });
    for (const [at, id] of AGENTS.entries()) await this.#enrol(stage, history, id, at + 1);
    for (const node of stage.nodes) await this.#probe(node);
  }

  async #enrol(stage: ClusterStage, history: History, expected: string, at: number): Promise<void> {
    const first = stage.node(0);
    const name = `effects-${at}`;
    const id = await enrol(first, name, history);
    if (id !== expected) throw new Error(`the agent has id ${String(id)}, not ${expected}`);
    const answer = await first.api('GET', `/agents/${id}/key`);
    const line = Buffer.from(String(answer?.body.data?.affected_items?.[0]?.['key']), 'base64').toString();
    const key = line.split(' ')[3];
    if (key === undefined) throw new Error(`agent ${id} has no key`);
    const agent = new OrderAgent({ id, name, key }, stage.nodes, wantedToken, at);
    this.#agents = [...this.#agents, agent];
    agent.start();
    await agent.settled();
  }

  async #probe(node: ManagerNode): Promise<void> {
    let count = 0;
    await eventually(
      `events at ${node.name} have their effects`,
      async () => {
        await postEvents(node, [`${PROBE}${node.name}-${(count += 1)}`]);
        await delay(LOOK_MS);
        return this.#syslog.messages.some((message) => tokenIn(message)?.startsWith(`${PROBE}${node.name}-`));
      },
      READY_MS,
    );
  }

  /** Clients of all nodes at once, until it is over. */
  work(stage: ClusterStage, seed: number, signal: AbortSignal): Promise<void>[] {
    return stage.nodes.flatMap((node, at) => [
      sendEvents(node, this.#events, new Random(seed + at), signal),
      askForOrders(node, this.#orders, AGENTS, new Random(seed + 100 + at), signal),
    ]);
  }

  /** A fault of this name begins at a node. */
  note(fault: string, node: string): void {
    if (!HAND_ON_ALL_THE_SAME.test(fault)) this.#endsOfHandingOn += 1;
    if (END_EXECD.test(fault)) this.#endsOfExecd.set(node, (this.#endsOfExecd.get(node) ?? 0) + 1);
  }

  /** One of the agents goes to another node. */
  move(random: Random): void {
    random.pick(this.#agents).move();
  }

  /** Waits until everything that is to come has come, and a while longer. @returns what is wrong */
  async judge(stage: ClusterStage, say: Say): Promise<string[]> {
    await Promise.all(this.#agents.map((agent) => agent.settled()));
    const isComplete = async (): Promise<boolean> => {
      await delay(LOOK_MS);
      return this.#breaches(stage).length === 0;
    };
    await eventually('all effects are there', isComplete, SETTLE_MS).catch(() => {});
    await this.#quiet();
    this.#tell(stage, say);
    return this.#breaches(stage);
  }

  /** Until nothing has come for some seconds. */
  async #quiet(): Promise<void> {
    let looks = 0;
    for (let seen = this.#count; looks < QUIET_LOOKS; looks += 1) {
      await delay(LOOK_MS);
      if (this.#count !== seen) looks = 0;
      seen = this.#count;
    }
  }

  get #count(): number {
    return this.#agents.reduce((sum, { record }) => sum + record.receipts.length, this.#syslog.messages.length);
  }

  #breaches(stage: ClusterStage): string[] {
    const lines = stage.nodes.map((node) => [node.name, alertsOf(node)] as const);
    const all = lines.flatMap(([, written]) => written);
    const alerts = new Map(lines.map(([name, written]) => [name, written.flatMap((line) => wantedToken(line) ?? [])]));
    const wanted = all.filter((line) => wantedToken(line) !== undefined);
    const records = this.#agents.map(({ record }) => record);
    return [
      ...this.#events.breaches(alerts),
      ...this.#forwarded.breaches(wanted, new Set(all), this.#endsOfHandingOn),
      ...this.#orders.asked(records).breaches,
      ...this.#orders.decided(records, alerts, this.#endsOfExecd).breaches,
      ...this.#syslog.problems,
    ];
  }

  get #forwarded(): ForwardedAlerts {
    return new ForwardedAlerts(this.#syslog.connections.map(({ messages }) => messages.map(lineOf)));
  }

  #tell(stage: ClusterStage, say: Say): void {
    const alerts = new Map(
      stage.nodes.map((node) => [node.name, alertsOf(node).flatMap((line) => wantedToken(line) ?? [])]),
    );
    const records = this.#agents.map(({ record }) => record);
    const { alerts: forwarded, again, repeated } = this.#forwarded.counts();
    const [asked, decided] = [this.#orders.asked(records), this.#orders.decided(records, alerts, this.#endsOfExecd)];
    const [events, orders] = [this.#events.counts(), this.#orders.counts()];
    const received = records.reduce((sum, { receipts }) => sum + receipts.length, 0);
    say(`Events: ${events.done} acknowledged, ${events.refused} refused, ${events.unknown} without a clear answer.`);
    say(`Alerts handed on: ${forwarded}, of which ${again} came again (${repeated} deliveries).`);
    say(`Orders of clients: ${orders.done} acknowledged, ${orders.refused} refused, ${orders.unknown} without a clear`);
    say(
      `  answer; ${asked.lost} lost where a connection broke. Orders in all: ${received} received; of those that were`,
    );
    say(`  decided ${decided.lost} were lost where a connection broke, and ${decided.again} came again.`);
  }
}

function wantedToken(text: string): string | undefined {
  const token = tokenIn(text);
  return token?.startsWith(PROBE) === true ? undefined : token;
}

function lineOf(message: string): string {
  return message.slice(message.indexOf('{'));
}

function alertsOf(node: ManagerNode): string[] {
  return outputParts(node.host.home, 'alerts.json').flatMap((path) =>
    readOutput(path)
      .toString()
      .split('\n')
      .filter((line) => line !== ''),
  );
}
