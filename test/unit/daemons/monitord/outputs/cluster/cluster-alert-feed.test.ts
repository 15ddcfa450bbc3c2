import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlertConsumer } from '../../../../../../daemons/monitord/outputs/alert-consumer.js';
import type { Delivery } from '../../../../../../daemons/monitord/outputs/alert-receiver.js';
import { ClusterAlertFeed } from '../../../../../../daemons/monitord/outputs/cluster/cluster-alert-feed.js';
import { clusterName, OutputTurns } from '../../../../../../daemons/monitord/outputs/cluster/output-turns.js';
import { OutputStore } from '../../../../../../daemons/monitord/outputs/output-store.js';
import type { StreamedAlert } from '../../../../../../lib/output/alert-feed.js';
import { eventually } from '../../../../../support/eventually.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';

/** The alerts of a cluster, a message at a time, as svc-clusterd gives them. */
class Alerts {
  readonly messages: string[][] = [];
  readonly said: string[] = [];
  missed = 0;
  skipped = 0;
  lost: { node: string; file: string; from: number; to: number }[] = [];
  leftMs = 20_000;
  #done = 0;
  #out = false;

  call = (method: string, params: { receipt?: string; delivered?: boolean }): Promise<unknown> => {
    if (method === 'alerts.take') return Promise.resolve(this.#take());
    if (method === 'alerts.keep') return Promise.resolve({ leftMs: this.leftMs });
    this.said.push(`${params.delivered === false ? 'back' : 'done'} ${params.receipt ?? ''}`);
    this.#out = false;
    if (params.delivered !== false) this.#done = Number(params.receipt);
    return Promise.resolve({});
  };

  /** Another node is not heard of any more: what it took is given again. */
  give(): void {
    this.#out = false;
  }

  /** NATS begins anew: the same numbers are those of other messages. */
  begin(...messages: string[][]): void {
    this.messages.splice(0, Infinity, ...messages);
    this.#done = 0;
  }

  #take(): unknown {
    const behind = { messages: 0, bytes: 0 };
    const alerts = this.messages[this.#done];
    if (this.#out || alerts === undefined) return { batch: null, behind };
    this.#out = true;
    const sequence = this.#done + 1;
    const { missed, skipped, lost, leftMs } = this;
    return { batch: { sequence, receipt: String(sequence), alerts, missed, skipped, lost, leftMs }, behind };
  }
}

describe('the alerts of a cluster for an output', () => {
  let directory: string;
  let store: OutputStore;
  let alerts: Alerts;
  let logger: RecordingLogger;
  let mine: boolean;
  let now: number;
  let seen: string[];
  let running: AlertConsumer | undefined;

  const start = async (deliver?: (batch: readonly StreamedAlert[], delivery: Delivery) => Promise<void>) => {
    const feed = new ClusterAlertFeed({
      key: 'syslog siem',
      name: 'syslog siem',
      clusterd: alerts as never,
      turns: { isMine: () => Promise.resolve(mine) },
      logger,
      now: () => now,
      lookMs: 2,
    });
    running = new AlertConsumer({
      key: 'cluster syslog siem',
      name: 'syslog siem',
      feed,
      store,
      receiver: {
        deadlineMs: 5000,
        mostAlerts: 2,
        deliver:
          deliver ??
          ((batch) => {
            seen.push(...batch.map(({ text }) => text));
            return Promise.resolve();
          }),
      },
      logger,
      sleep: () => new Promise((resolve) => setTimeout(resolve, 2)),
    });
    await running.start();
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cluster-alerts-'));
    store = await OutputStore.open(directory);
    alerts = new Alerts();
    logger = new RecordingLogger();
    mine = true;
    now = 0;
    seen = [];
  });
  afterEach(async () => {
    await running?.stop();
    await store.close();
    rmSync(directory, { recursive: true });
  });

  it('are delivered in order, and each message is done when all of it is', async () => {
    alerts.messages.push(['a', 'b', 'c'], [], ['d']);
    await start();
    await eventually('all came', () => alerts.said.length === 3);
    expect(seen).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(alerts.said).to.deep.equal(['done 1', 'done 2', 'done 3']);
  });

  it("are another node's while this one is not to run the output", async () => {
    mine = false;
    alerts.messages.push(['a']);
    await start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).to.deep.equal([]);
    mine = true;
    await eventually('it came', () => seen.length === 1);
  });

  it('go on within a message after a failure and after a start, and are given back at a stop', async () => {
    alerts.messages.push(['a', 'b', 'c', 'd', 'e']);
    let failing = true;
    const deliver = async (batch: readonly StreamedAlert[], delivery: Delivery) => {
      for (const [index, { text }] of batch.entries()) {
        if (failing && text === 'd') throw new Error('the receiver is away');
        seen.push(text);
        delivery.sent(1);
        await delivery.settle(index + 1);
      }
    };
    await start(deliver);
    await eventually('it fails', () => logger.lines.some((line) => line.includes('the receiver is away')));
    await running?.stop();
    expect(alerts.said).to.deep.equal(['back 1']);
    failing = false;
    await start(deliver);
    await eventually('all came', () => alerts.said.length === 2);
    expect(seen).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('are left to another node by one that stood still for too long', async () => {
    alerts.messages.push(['a', 'b', 'c', 'd'], ['e']);
    await start((batch) => {
      seen.push(...batch.map(({ text }) => text));
      if (seen.length !== 2) return Promise.resolve();
      // It stands still; the next node gets the message, and has not done it yet.
      now += 60_000;
      mine = false;
      return Promise.resolve();
    });
    await eventually('two came', () => seen.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).to.deep.equal(['a', 'b']);
    expect(alerts.said).to.deep.equal([]);
    alerts.give();
    mine = true;
    await eventually('all came', () => alerts.said.length === 2);
    expect(seen).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('are others under the same number once NATS has lost what had it, or with some in front', async () => {
    alerts.messages.push(['a', 'b']);
    await start();
    await eventually('all came', () => alerts.said.length === 1);
    await running?.stop();
    alerts.begin(['c', 'a', 'b', 'd']);
    await start();
    await eventually('all came', () => alerts.said.length === 2);
    expect(seen).to.deep.equal(['a', 'b', 'c', 'a', 'b', 'd']);
  });

  it('go on from a place as earlier versions kept it, which named the number alone', async () => {
    await store.keep('cluster syslog siem', { file: 'cluster 1', offset: 2 });
    alerts.messages.push(['a', 'b']);
    await start();
    await eventually('all came', () => alerts.said.length === 1);
    expect(seen).to.deep.equal(['a', 'b']);
  });

  it('that NATS had passed over are told of, and where those lie that are lost', async () => {
    alerts.skipped = 2;
    alerts.lost = [{ node: 'n2', file: '2026/Nov/ossec-alerts-28.json', from: 10, to: 300 }];
    alerts.messages.push(['a']);
    await start();
    await eventually('it came', () => seen.length === 1);
    const said = logger.lines.join('\n');
    expect(said).to.include("warn: NATS had passed over 2 messages with alerts of the cluster for 'syslog siem'");
    expect(said).to.include(
      "error: Alerts of node 'n2' are lost in NATS, or too far back, and were not handed on to 'syslog siem'",
    );
    expect(said).to.include("bytes 10 to 300 of '2026/Nov/ossec-alerts-28.json'");
  });

  it('that were dropped before they were taken are told of', async () => {
    alerts.missed = 3;
    alerts.messages.push(['a']);
    await start();
    await eventually('it came', () => seen.length === 1);
    expect(logger.lines.join()).to.include('3 messages with alerts of the cluster were dropped');
  });
});

describe('whose turn an output is', () => {
  const name = clusterName('syslog siem');
  const node = (named: string, present: boolean, outputs: unknown) => ({
    name: named,
    present,
    facts: { 'svc-monitord': { outputs } },
  });
  const turns = (self: string, nodes: readonly unknown[]) =>
    new OutputTurns({ call: () => Promise.resolve({ self, nodes }) } as never, new RecordingLogger());

  it('is that of the first node that is heard and has it', async () => {
    const nodes = [node('a', true, []), node('b', false, [name]), node('d', true, [name]), node('c', true, [name])];
    expect(await turns('c', nodes).isMine(name)).to.equal(true);
    expect(await turns('d', nodes).isMine(name)).to.equal(false);
    expect(await turns('a', nodes).isMine(name)).to.equal(false);
    expect(await turns('a', [node('a', true, 'nonsense')]).isMine(name)).to.equal(false);
  });
});
