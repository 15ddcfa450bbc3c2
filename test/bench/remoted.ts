/**
 * Prints what svc-remoted takes: events of agents that one core decrypts and puts on the bus, and the cost of many idle
 * agents with keepalives. `npm run bench -- remoted [seconds] [agents]`; agents run in a child, figures are CPU time of
 * svc-remoted alone.
 */
import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { BenchAgents } from '../support/agentlink/bench-agents-process.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { processUsage } from '../support/process/process-usage.js';
import { identity, RemotedHome, sinkOf } from '../support/remoted/remoted-home.js';

const seconds = Math.min(60, Number(process.argv[2] ?? 10));
const many = Math.min(15_000, Number(process.argv[3] ?? 10_000));
const SENDERS = 50;
const REGISTERED_AT_ONCE = 2000;
const PATIENT = { deadlineMs: 60_000 };

async function benchEvents(form: string, size: number): Promise<void> {
  const home = new RemotedHome();
  home.keys(...Array.from({ length: SENDERS }, (_, index) => identity(index + 1)));
  let taken = 0;
  const sink = sinkOf(home, (events) => {
    taken += events.length;
  });
  await sink.start();
  const daemon = await RunningDaemon.start('svc-remoted', home);
  let agents: BenchAgents | undefined;
  try {
    const pid = daemon.process.pid ?? 0;
    agents = await BenchAgents.start('events', daemon.port('agents_tcp'), SENDERS, form, size);
    await delay(1000);
    const [cpu, count, start] = [processUsage(pid).cpu, taken, performance.now()];
    await delay(seconds * 1000);
    const [spent, passed] = [processUsage(pid).cpu - cpu, (performance.now() - start) / 1000];
    const events = taken - count;
    const rate = (value: number) => Math.round(value).toLocaleString('en-US').padStart(9);
    console.log(
      `${rate(events / spent)} /s of CPU ${rate(events / passed)} /s here  ${((spent * 1e6) / events).toFixed(1)} us  events of ${String(size)} bytes, ${form}, ${processUsage(pid).rss.toFixed(0)} MiB`,
    );
  } finally {
    await agents?.stop();
    await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  }
}

async function benchKeepalives(): Promise<void> {
  const home = new RemotedHome();
  mkdirSync(home.path('queue', 'db'));
  const all = Array.from({ length: many }, (_, index) => identity(index + 1));
  home.keys(...all);
  const db = await RunningDaemon.start('svc-db', home);
  const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const daemon = await RunningDaemon.start('svc-remoted', home);
  let agents: BenchAgents | undefined;
  try {
    for (let at = 0; at < all.length; at += REGISTERED_AT_ONCE) {
      const some = all.slice(at, at + REGISTERED_AT_ONCE);
      await Promise.all(
        some.map(({ id, name }) => client.call('agents.register', { id, name, dateAdd: 1_700_000_000 }, PATIENT)),
      );
    }
    const pid = daemon.process.pid ?? 0;
    const connecting = performance.now();
    agents = await BenchAgents.start('keepalives', daemon.port('agents_tcp'), many, 'aes', 0);
    console.log(`${String(many)} agents connected within ${((performance.now() - connecting) / 1000).toFixed(1)} s`);
    // One round, in which each agent tells everything for the first time.
    await delay(11_000);
    await agents.report();
    const [cpu, start] = [processUsage(pid).cpu, performance.now()];
    await delay(Math.max(20, seconds) * 1000);
    const passed = (performance.now() - start) / 1000;
    const share = ((processUsage(pid).cpu - cpu) / passed) * 100;
    const { acks, lost, p99, max } = await agents.report();
    const { connection } = await client.call('agents.summary', {});
    console.log(
      `keepalives every 10 s: ${share.toFixed(1)} % of a core, ${processUsage(pid).rss.toFixed(0)} MiB, ${String(acks)} acknowledged, 99 of 100 within ${p99.toFixed(0)} ms, all within ${max.toFixed(0)} ms, ${String(lost)} connections lost, ${String(connection.active)} active in svc-db`,
    );
  } finally {
    await agents?.stop();
    await daemon.stop('SIGKILL');
    client.close();
    await db.stop('SIGKILL');
    home.remove();
  }
}

await benchEvents('aes', 200);
await benchEvents('aes', 1000);
await benchEvents('blowfish', 200);
await benchKeepalives();
process.exit(0);
