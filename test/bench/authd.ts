import { mkdirSync, writeFileSync } from 'node:fs';
import { newRawKey } from '../../daemons/authd/key-registry.js';
import { authdHome, AuthdServer, liftEnrollmentLimits } from '../support/authd/authd-server.js';
import { enrol, keyLines, keyOf } from '../support/authd/enrollment.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';

/*
 * Enrolments with the real svc-authd and svc-db: `npm run bench -- authd [SECONDS [KEYS [CLIENTS]]]`. KEYS agents are in
 * the key file before; each client makes a new TLS connection a request, in this process, so that the machine is shared.
 */
const [seconds = 5, keys = 0, clients = 16] = process.argv.slice(2).map(Number);

const home = await authdHome();
liftEnrollmentLimits(home);
const lines = Array.from(
  { length: keys },
  (_, index) => `${String(index + 1).padStart(3, '0')} agent${index} any ${newRawKey()}\n`,
);
writeFileSync(home.path('etc/client.keys'), lines.join(''));
mkdirSync(home.path('queue/db'), { recursive: true });
const server = await AuthdServer.start(home);
const db = await RunningDaemon.start('svc-db', home);
try {
  const { pid } = server.child;
  const settled = () =>
    eventually(
      'svc-db knows every agent',
      async () => {
        const { agents } = (await server.client.call('stats', {})) as { agents: { settled: boolean } };
        return agents.settled;
      },
      120_000,
    );
  await settled();
  const latencies: number[] = [];
  const began = performance.now();
  const { cpu } = processUsage(pid);
  const until = began + seconds * 1000;
  const client = async (number: number) => {
    for (let count = 0; performance.now() < until; count += 1) {
      const start = performance.now();
      keyOf(await enrol(server.port, `OSSEC A:'bench-${number}-${count}' V:'v4.14.7' G:'default'\n`));
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const wall = performance.now() - began;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => quantile(latencies, share).toFixed(0);
  const used = (processUsage(pid).cpu - cpu) * 1000;
  process.stdout.write(
    `${latencies.length} enrolments, ${clients} at once, ${keys} keys before: ` +
      `${((latencies.length / wall) * 1000).toFixed(0)}/s; latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; ` +
      `svc-authd ${((used / wall) * 100).toFixed(0)} % of a core, ${(used / latencies.length).toFixed(2)} ms each\n`,
  );
  const told = performance.now();
  await settled();
  process.stdout.write(`svc-db knew every agent ${(performance.now() - told).toFixed(0)} ms after the last\n`);
  if (keyLines(home).length !== keys + latencies.length) throw new Error('keys are missing');
} finally {
  await server.end();
  await db.stop('SIGKILL');
  home.remove();
}
