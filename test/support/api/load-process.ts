/** The clients of `npm run bench -- api`, in a process of their own: told what to ask by messages, one after the other. */
import { quantile } from '../process/measuring.js';
import type { LoadOrder, LoadReport } from './load-client.js';
import { LoadConnection } from './load-connection.js';

/** For the handshakes, the first answers, which nothing is prepared for, and the compiler of the server. */
const WARM_MS = 1000;
const connections: LoadConnection[] = [];
let ended = false;

function connection(port: number, index: number): LoadConnection {
  return (connections[index] ??= new LoadConnection(port));
}

/** @returns milliseconds of each answer */
async function askUntil(one: LoadConnection, request: Buffer, order: LoadOrder, end: number): Promise<number[]> {
  const times: number[] = [];
  for (let from = performance.now(); from < end && !ended;) {
    const { status } = await one.ask(request);
    if (status !== order.status) throw new Error(`${String(status)} instead of ${String(order.status)}`);
    const now = performance.now();
    times.push(now - from);
    from = now;
  }
  return times;
}

async function run(order: LoadOrder): Promise<LoadReport> {
  ended = false;
  const request = Buffer.from(order.request);
  const workers = Array.from({ length: order.connections }, (_none, index) => connection(order.port, index));
  const answers = await Promise.all(workers.map((worker) => worker.ask(request)));
  const warm = performance.now() + WARM_MS;
  await Promise.all(workers.map((worker) => askUntil(worker, request, order, warm)));
  process.send?.('warm');
  const cpu = process.cpuUsage();
  const began = performance.now();
  const times = await Promise.all(
    workers.map((worker) => askUntil(worker, request, order, began + order.seconds * 1000)),
  );
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = Float64Array.from(times.flat()).sort();
  return {
    requests: sorted.length,
    seconds,
    bytes: answers[0]?.bytes ?? 0,
    cpu: (user + system) / 1e6,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    most: quantile(sorted, 1),
  };
}

process.on('message', (order: LoadOrder | 'end') => {
  if (order === 'end') {
    ended = true;
    return;
  }
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
