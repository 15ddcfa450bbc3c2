import { startupMessage } from '../../lib/agentlink/control-text.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { MinimalAgent } from '../support/agentlink/minimal-agent.js';
import { authdHome, AuthdServer, liftEnrollmentLimits } from '../support/authd/authd-server.js';
import { enrol, keyOf } from '../support/authd/enrollment.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { quantile } from '../support/process/measuring.js';
import { KeepingSink } from '../support/remoted/remoted-home.js';

/*
 * How long others wait: `npm run bench -- waits [TIMES]`, 20 by default. For the error of a request to a daemon that is down
 * (architecture.md 4 "Requests": within 2 s), by a client that comes afterwards and by one that was connected when the daemon
 * was killed; and for svc-remoted to let an agent in whose key svc-authd has just given out (at most 1 s).
 */
const times = Number(process.argv[2] ?? 20);

function show(what: string, latencies: readonly number[], boundMs: number): void {
  const sorted = latencies.toSorted((a, b) => a - b);
  const [half, most] = [quantile(sorted, 0.5), quantile(sorted, 1)].map((ms) => `${ms.toFixed(0)} ms`);
  const late = sorted.filter((ms) => ms > boundMs).length;
  process.stdout.write(
    `${what}: half within ${half}, all within ${most}; ${late} of ${sorted.length} over ${boundMs} ms\n`,
  );
}

/** @returns milliseconds until the call fails; throws when it does not */
async function untilError(client: RequestClient<typeof dbContract>): Promise<number> {
  const began = performance.now();
  const answered = await client.call('ping', {}).then(
    () => true,
    () => false,
  );
  if (answered) throw new Error('a daemon that is down has answered');
  return performance.now() - began;
}

const home = await authdHome(
  '',
  '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>',
);
liftEnrollmentLimits(home);
const newClient = () => new RequestClient({ contract: dbContract, path: home.socket('svc-db') });

const [afterwards, connected]: [number[], number[]] = [[], []];
for (let round = 0; round < times; round += 1) {
  const db = await RunningDaemon.start('svc-db', home);
  const before = newClient();
  await before.call('ping', {});
  await db.stop('SIGKILL');
  connected.push(await untilError(before));
  const after = newClient();
  afterwards.push(await untilError(after));
  before.close();
  after.close();
}
show('error of a daemon that is down, to a client that comes afterwards', afterwards, 2000);
show('the same, to a client that was connected', connected, 2000);

const sink = new KeepingSink(home);
await sink.start();
const remoted = await RunningDaemon.start('svc-remoted', home);
const authd = await AuthdServer.start(home);
const letIn: number[] = [];
for (let round = 0; round < times; round += 1) {
  const name = `new-${String(round)}`;
  const { id, key } = keyOf(await enrol(authd.port, `OSSEC A:'${name}'\n`));
  const began = performance.now();
  const agent = new MinimalAgent({ id, name, key });
  await eventually(`${name} is let in`, async () => {
    await agent.connect(remoted.port('agents_tcp'));
    agent.send(startupMessage('v4.14.7'));
    await eventually('an answer', () => agent.closed || agent.acks > 0);
    return agent.acks > 0;
  });
  letIn.push(performance.now() - began);
  agent.close();
}
show('a new key is known to svc-remoted', letIn, 1000);

await authd.end();
await remoted.stop('SIGKILL');
await sink.stop();
home.remove();
