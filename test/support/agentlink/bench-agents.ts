/** The agents of `npm run bench -- remoted`, `-- push` and `-- inventory-db sync`, in a process of their own: MODE PORT COUNT FORM SIZE FIRST. */
import { buildEventPayload } from '../../../lib/agentlink/event-payload.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import { quantile } from '../process/measuring.js';
import { identity } from '../remoted/remoted-home.js';
import type { AgentReport } from './bench-agents-process.js';
import { synchroniseInventories } from './inventory-agents.js';
import { connectAll, keepAlive, SimulatedAgent } from './simulated-agent.js';

const [mode, port, count, form, size, first] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
  process.argv[5] as MessageForm,
  Number(process.argv[6]),
  Number(process.argv[7] ?? 1),
];
/** One of so many agents reads the files that are pushed to it. */
const READERS = 50;
const NOTIFY_MS = 10_000;
/** Frames of one sender that are written again and again: counters are not checked by default. */
const FRAMES = 200;
let latencies: number[] = [];

/** Frames of an agent with events of `size` bytes. */
function eventFrames(agent: SimulatedAgent): Buffer {
  const text = 'Dec 25 20:45:02 web01 sshd[1234]: Failed password for root from 192.0.2.10 port 4321 ssh2 ';
  const payload = () => {
    const noise = Math.random()
      .toString(36)
      .repeat(Math.ceil(size / 12));
    return buildEventPayload('1', '/var/log/auth.log', (text + noise).slice(0, size));
  };
  return Buffer.concat(Array.from({ length: FRAMES }, () => agent.seal(payload())));
}

const agents = Array.from({ length: count }, (_, index) => new SimulatedAgent(identity(first + index), form));
for (const [index, agent] of agents.entries()) {
  agent.onAck = (latency) => latencies.push(latency);
  agent.trusting = mode === 'push' && index % READERS !== 0;
}
await connectAll(agents, port);
let isSynchronising = false;
process.on('message', () => {
  // The first question begins it.
  if (mode === 'inventory' && !isSynchronising) {
    isSynchronising = true;
    synchroniseInventories(agents, size);
  }
  const sorted = latencies.sort((a, b) => a - b);
  latencies = [];
  const lost = agents.reduce((sum, agent) => sum + agent.lost, 0);
  const sums: Record<string, number> = {};
  for (const { mergedSum } of agents) sums[mergedSum] = (sums[mergedSum] ?? 0) + 1;
  const report: AgentReport = {
    acks: sorted.length,
    lost,
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
    latencies: mode === 'push' ? sorted : [],
    sums,
    broken: agents.reduce((sum, agent) => sum + agent.brokenFiles, 0),
  };
  process.send?.(report);
});
process.on('disconnect', () => process.exit(0));
if (mode === 'events') {
  for (const agent of agents) void agent.flood(eventFrames(agent));
} else {
  keepAlive(agents, NOTIFY_MS);
}
process.send?.('ready');
