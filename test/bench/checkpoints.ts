import { readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReceivedEvent } from '../../lib/bus/bus-event.js';
import { PipelineHome, TestPipeline } from '../support/analysisd/pipeline-kit.js';
import { eventually } from '../support/eventually.js';
import { calibrate, quantile } from '../support/process/measuring.js';

/*
 * What checkpoints of svc-analysisd cost: `npm run bench -- checkpoints [AGENTS] [EVENTS] [ROUNDS]`, by default 10,000 agents
 * with 127 checks and 5 texts of rootcheck each, and 50,000 events that composite rules remember for ten minutes. Each round
 * is the ten seconds between two checkpoints: so many events of both kinds come as keep that up (agents scan twice a day),
 * and then nothing but the checkpoint is measured: CPU of the whole process, and the longest time in which a timer of 1 ms did
 * not come to its turn.
 */
const [agents = 10_000, remembered = 50_000, rounds = 40] = process.argv.slice(2).map(Number);
const CHECKS = 127;
const TEXTS = 5;
const ROUND_MS = 10_000;
const REMEMBERED_MS = 600_000;
const SCAN_MS = 43_200_000;
const BATCH = 512;
/** Rounds in which what the filling left behind is cleared away. */
const WARM_ROUNDS = 3;
const PROBE_MS = 1;
const IDLE_MS = 200;

const RULES = `<group name="local,">
  <rule id="7" level="0" noalert="1"><category>ossec</category><description>Any of our own.</description></rule>
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100200" level="3"><decoded_as>door</decoded_as><description>A door.</description></rule>
  <rule id="100210" level="12" frequency="8" timeframe="600"><if_matched_sid>100200</if_matched_sid><same_user />
    <different_url /><description>Many doors.</description></rule>
  <rule id="100220" level="0"><category>ossec</category><decoded_as>sca</decoded_as><description>A check.</description></rule>
</group>`;

let sequence = 0;
let doors = 0;
let scanned = 0;
let texts = 0;

function event(queue: string, location: string, text: string, agent: number, receivedAt: number): ReceivedEvent {
  const id = String((agent % agents) + 1).padStart(3, '0');
  return {
    queue,
    location,
    message: Buffer.from(text),
    receivedAt,
    stream: 'bench',
    sequence: ++sequence,
    agent: { id, name: `host${id}`, ip: '10.0.0.4', labels: new Map() },
  };
}

function door(at: number): ReceivedEvent {
  const number = doors++;
  const text = `Mar  7 09:15:02 gate doord[${String(number)}]: opened by user${String(number % 7)} number ${String(number)}`;
  return event('1', '/var/log/doors/entrance.log', text, number, at);
}

/** The next check of a scan that goes from agent to agent. */
function check(at: number): ReceivedEvent {
  const number = scanned++;
  const agent = Math.floor(number / CHECKS);
  const round = Math.floor(agent / agents);
  const result = (number * 7 + round) % 5 === 0 ? 'failed' : 'passed';
  const id = 28_500 + (number % CHECKS);
  const text = `{"type":"check","id":${String(1_000_000 + agent)},"policy":"CIS benchmark for Debian 12","policy_id":"cis_debian12","check":{"id":${String(id)},"title":"Ensure something is configured","result":"${result}"}}`;
  return event('p', 'sca', text, agent, at);
}

function rootcheck(at: number): ReceivedEvent {
  const number = texts++;
  const text = `File '/var/lib/application/data/${String(number % TEXTS)}/${String(number % 97)}' is owned by root and has written permissions to anyone.`;
  return event('9', 'rootcheck', text, Math.floor(number / TEXTS), at);
}

const line = (name: string, text: string): void => {
  process.stdout.write(`${name.padEnd(28)} ${text}\n`);
};

/** Longest time in which a timer did not come to its turn. */
async function longestHold(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let at = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - at - PROBE_MS);
    at = now;
  };
  const timer = setInterval(look, PROBE_MS);
  await work();
  look();
  clearInterval(timer);
  return longest;
}

const now = Date.now();
const home = new PipelineHome(now, {
  rules: RULES,
  sections: '<journal><sync>never</sync><checkpoint_interval>10s</checkpoint_interval></journal>',
});
const running = await TestPipeline.start(home);
const { pipeline } = running;

async function feed(count: number, make: (index: number) => ReceivedEvent): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await running.take(Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => make(from + index)));
    if (from % (64 * BATCH) === 0) await running.written();
  }
  await running.written();
}

const journal = home.path('queue', 'journal');
const bytesOf = (pattern: RegExp): number =>
  readdirSync(journal)
    .filter((name) => pattern.test(name))
    .reduce((sum, name) => sum + statSync(`${journal}/${name}`).size, 0);

/** As the daemon does it, but for the waiting: what is due in the ten seconds between is done in its turn. */
async function checkpoint(): Promise<void> {
  const { position } = pipeline.stats().journal.checkpoint;
  home.now += ROUND_MS;
  await pipeline.tick();
  await eventually('a checkpoint is made', () => pipeline.stats().journal.checkpoint.position !== position, 120_000);
}

const { sha256Seconds, regExpSeconds } = calibrate();
line(
  'calibration',
  `sha256 of 512 MiB ${sha256Seconds.toFixed(2)} s, 5,000,000 expressions ${regExpSeconds.toFixed(2)} s`,
);
const heapBefore = process.memoryUsage().heapUsed;
await feed(agents * CHECKS, () => check(home.now));
await feed(agents * TEXTS, () => rootcheck(home.now));
await feed(remembered, (index) => door(home.now - REMEMBERED_MS + Math.floor((index * REMEMBERED_MS) / remembered)));
await checkpoint();
line(
  'memory',
  `${String(Math.round((process.memoryUsage().heapUsed - heapBefore) / 1_048_576))} MiB of heap, with garbage`,
);

line('remembered', `${String(pipeline.analysis.engine.state.correlation.size)} events`);

const perRound = (total: number, period: number): number => Math.round((total * ROUND_MS) / period);
const costs: number[] = [];
const holds: number[] = [];
/** The same while nothing is done: what others on the machine take. */
const idle: number[] = [];
for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
  await feed(perRound(remembered, REMEMBERED_MS), () => door(home.now));
  await feed(perRound(agents * CHECKS, SCAN_MS), () => check(home.now));
  await feed(perRound(agents * TEXTS, SCAN_MS), () => rootcheck(home.now));
  const quiet = await longestHold(() => delay(IDLE_MS));
  const before = process.cpuUsage();
  const hold = await longestHold(checkpoint);
  const { user, system } = process.cpuUsage(before);
  if (round < 0) continue;
  idle.push(quiet);
  holds.push(hold);
  costs.push((user + system) / 1000);
}
costs.sort((a, b) => a - b);
holds.sort((a, b) => a - b);
idle.sort((a, b) => a - b);
const mean = costs.reduce((sum, cost) => sum + cost, 0) / rounds;
line(
  'a checkpoint',
  `CPU ${mean.toFixed(1)} ms on average, ${quantile(costs, 0.5).toFixed(1)} ms as a rule, ${Math.max(...costs).toFixed(1)} ms at most: ${((mean / ROUND_MS) * 100).toFixed(2)} % of a core`,
);
const told = (sorted: readonly number[]): string =>
  `${quantile(sorted, 0).toFixed(1)} ms at least, ${quantile(sorted, 0.5).toFixed(1)} ms as a rule, ${quantile(sorted, 0.9).toFixed(1)} ms in nine of ten, ${Math.max(...sorted).toFixed(1)} ms at most`;
line('longest hold', told(holds));
line('when nothing is done', told(idle));
line(
  'on the disk',
  `checkpoints ${(bytesOf(/^checkpoint/) / 1_048_576).toFixed(1)} MiB, log ${(bytesOf(/^state/) / 1_048_576).toFixed(1)} MiB`,
);
await pipeline.stop();
home.remove();
