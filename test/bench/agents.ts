import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { AgentIdentity } from '../support/agentlink/minimal-agent.js';
import { connectAll, keepAlive, SimulatedAgent } from '../support/agentlink/simulated-agent.js';
import { authdHome, AuthdServer, liftEnrollmentLimits } from '../support/authd/authd-server.js';
import { enrol, keyOf } from '../support/authd/enrollment.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { sinkOf } from '../support/remoted/remoted-home.js';

/*
 * A simulator of agents: `npm run bench -- agents [--agents N] [--seconds S] [--rate R]`. N agents enrol over TLS, connect
 * over TCP, send keepalives every 10 s and R events a second together for S seconds, at the real svc-authd, svc-remoted
 * and svc-db on a temporary home. The agents and the sink of the events are this process.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '1000' },
  },
});
const MAX_AGENTS = 10_000;
const MAX_SECONDS = 60;
const MAX_RATE = 20_000;
const count = bounded('agents', values.agents, 1, MAX_AGENTS);
const seconds = bounded('seconds', values.seconds, 1, MAX_SECONDS);
const rate = bounded('rate', values.rate, 0, MAX_RATE);

const ENROLLING_AT_ONCE = 32;
const NOTIFY_MS = 10_000;
const TICK_MS = 20;
const PATIENCE_MS = 60_000;
const EVENT = 'Dec 25 20:45:02 web01 sshd[1234]: Failed password for root from 192.0.2.10 port 4321 ssh2';
const REMOTE = '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>';

function bounded(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  process.stderr.write(`agents: --${name} is a number from ${least} to ${most}\n`);
  return process.exit(2);
}

const line = (text: string) => process.stdout.write(`${text}\n`);

async function enrolAll(port: number): Promise<AgentIdentity[]> {
  const identities: AgentIdentity[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) identities.push(keyOf(await enrol(port, `OSSEC A:'sim-${++next}' V:'v4.14.7'\n`)));
  };
  await Promise.all(Array.from({ length: ENROLLING_AT_ONCE }, client));
  return identities;
}

/** Sends events in turn for the time of the run. @returns how many */
async function sendEvents(agents: readonly SimulatedAgent[]): Promise<number> {
  const began = performance.now();
  let sent = 0;
  for (let passed = 0; passed < seconds * 1000; passed = performance.now() - began) {
    for (const due = (passed / 1000) * rate; sent < due; sent += 1) {
      agents[sent % count]?.event('/var/log/auth.log', EVENT);
    }
    await delay(TICK_MS);
  }
  return sent;
}

const home = await authdHome('', REMOTE);
liftEnrollmentLimits(home);
mkdirSync(home.path('queue/db'));
let taken = 0;
const sink = sinkOf(home, (events) => {
  // Internal messages, such as those of agents that started, are not what was sent here.
  for (const { location } of events) if (location.endsWith('auth.log')) taken += 1;
});
const agents: SimulatedAgent[] = [];
const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
const started: { end: () => Promise<unknown> }[] = [{ end: () => sink.stop() }];
try {
  await sink.start();
  const db = await RunningDaemon.start('svc-db', home);
  started.push({ end: () => db.stop('SIGKILL') });
  const remoted = await RunningDaemon.start('svc-remoted', home);
  started.push({ end: () => remoted.stop('SIGKILL') });
  const authd = await AuthdServer.start(home);
  started.push({ end: () => authd.end() });
  const pids = { 'svc-authd': authd.child.pid, 'svc-remoted': remoted.process.pid, 'svc-db': db.process.pid };
  /** Prints what each daemon used since then. */
  const mark = () => {
    const at = performance.now();
    const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, cpu: processUsage(pid).cpu }));
    return () => {
      const passed = (performance.now() - at) / 1000;
      const used = before.map(({ name, pid, cpu }) => {
        const now = processUsage(pid);
        return `${name} ${(((now.cpu - cpu) / passed) * 100).toFixed(1)} % of a core, ${now.rss.toFixed(0)} MiB`;
      });
      line(`  ${used.join('; ')}`);
    };
  };

  let show = mark();
  let began = performance.now();
  const identities = await enrolAll(authd.port);
  const enrolled = (performance.now() - began) / 1000;
  line(`${count} agents enrolled in ${enrolled.toFixed(1)} s, ${(count / enrolled).toFixed(0)}/s`);
  show();

  await client.call('keys.reload', {});
  agents.push(...identities.map((identity) => new SimulatedAgent(identity)));
  let latencies: number[] = [];
  for (const agent of agents) agent.onAck = (latency) => latencies.push(latency);
  const report = () => {
    const sorted = latencies.sort((a, b) => a - b);
    latencies = [];
    const at = (share: number) => `${quantile(sorted, share).toFixed(0)} ms`;
    return `${sorted.length} acknowledged, half within ${at(0.5)}, 99 of 100 within ${at(0.99)}, the slowest ${at(1)}`;
  };
  show = mark();
  began = performance.now();
  await connectAll(agents, remoted.port('agents_tcp'));
  await eventually('every agent is let in', () => agents.every((agent) => agent.connected), PATIENCE_MS);
  line(`${count} agents connected in ${((performance.now() - began) / 1000).toFixed(2)} s: ${report()}`);
  show();

  const stop = keepAlive(agents, NOTIFY_MS);
  show = mark();
  began = performance.now();
  try {
    const sent = await sendEvents(agents);
    await eventually('every event arrives', () => taken >= sent, PATIENCE_MS);
    const passed = (performance.now() - began) / 1000;
    line(
      `${sent} events in ${passed.toFixed(1)} s, ${(sent / passed).toFixed(0)}/s, all taken; keepalives every 10 s:`,
    );
    line(`  ${report()}; ${agents.reduce((sum, { lost }) => sum + lost, 0)} connections lost`);
    show();
  } finally {
    stop();
  }
} finally {
  client.close();
  for (const agent of agents) agent.close();
  for (const { end } of started.reverse()) await end();
  home.remove();
}
