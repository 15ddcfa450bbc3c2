import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { liveProcess } from '../../../bin/control/supervisor/live-process.js';
import { ClientKeysFile } from '../../../lib/agentlink/client-keys-file.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { endProcessesOfHome } from '../../chaos/processes-of-home.js';
import { SimulatedAgent } from '../../support/agentlink/simulated-agent.js';
import { authdHome } from '../../support/authd/authd-server.js';
import { connectEnrollment, keyOf } from '../../support/authd/enrollment.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { sinkOf } from '../../support/remoted/remoted-home.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

/** Agents that enrol; `SVC_ENROLMENTS=1000` for the large run. */
const ENROLMENTS = Number(process.env['SVC_ENROLMENTS'] ?? 200);
const DAEMONS = ['svc-db', 'svc-authd', 'svc-remoted'] as const;
type Victim = (typeof DAEMONS)[number];
/** Who is killed when more than half of an equal share of the agents has its keys; the others are on their way then. */
const KILLS: readonly (readonly Victim[])[] = [['svc-authd'], ['svc-db', 'svc-remoted'], DAEMONS];
const AT_ONCE = 32;
const RETRY_MS = 100;
const NOTIFY_MS = 2000;
/** A client that hears nothing for so long tries again. */
const SILENCE_MS = 5000;
const PATIENCE_MS = 20_000;

describe('enrolment under kill -9', function () {
  this.timeout(120_000);
  let home: TemporaryHome;
  let supervisor: TestProgram | undefined;
  let ports: { readonly enrolment: number; readonly agents: number };
  const agents: SimulatedAgent[] = [];

  before(async () => {
    home = await authdHome();
    ports = { enrolment: await freePort(), agents: await freePort() };
    mkdirSync(home.path('queue/db'));
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config>
  <auth><port>${ports.enrolment}</port></auth>
  <remote><connection>secure</connection><port>${ports.agents}</port><local_ip>127.0.0.1</local_ip></remote>
</manager_config>`,
    );
  });
  after(async () => {
    for (const agent of agents) agent.close();
    await endProcessesOfHome(home.root);
    await supervisor?.ended;
    home.remove();
  });

  function kill(name: Victim): void {
    const live = liveProcess(new RunFiles(home, name));
    if (live !== undefined) process.kill(live.pid, 'SIGKILL');
  }

  async function allRun(): Promise<void> {
    await eventually(
      'the daemons run',
      async () => [...(await readDaemonStatus(home, DAEMONS)).values()].every(({ state }) => state === 'running'),
      PATIENCE_MS,
    );
  }

  /** The moment in which new keys are in place and nobody was told of them yet. */
  async function nextKeys(): Promise<void> {
    // Where nothing ever comes the test is given up, and the watcher must not keep the process.
    const watcher = watch(home.path('etc'), { persistent: false });
    await new Promise<void>((resolve) => {
      watcher.on('change', (_event, name) => {
        if (name === 'client.keys') resolve();
      });
    });
    watcher.close();
  }

  /** What an agent does: it asks until it is given a key, also when svc-authd cannot judge while svc-db is away. */
  async function enrolled(name: string): Promise<ReturnType<typeof keyOf>> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const reply = await ask(ports.enrolment, `OSSEC A:'${name}' V:'v4.14.7'\n`).catch(() => '');
      if (reply.startsWith('OSSEC K:') || performance.now() > end) return keyOf(reply);
      await delay(RETRY_MS);
    }
  }

  it('loses no agent and gives no id twice, and agents come back by themselves', async () => {
    const sink = sinkOf(home, () => {});
    const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    await sink.start();
    try {
      supervisor = new TestProgram('product-control.js', [DAEMONS.join(','), 'run', '--home', home.root]);
      await allRun();
      const given: ReturnType<typeof keyOf>[] = [];
      const pids: Record<string, Set<number | undefined>> = {};
      const began = performance.now();
      for (const [share, victims] of KILLS.entries()) {
        const end = Math.round((ENROLMENTS * (share + 1)) / KILLS.length);
        const half = Math.round((given.length + end) / 2);
        for (const [name, { pid }] of await readDaemonStatus(home, DAEMONS)) (pids[name] ??= new Set()).add(pid);
        let next = given.length;
        let killed: Promise<void> | undefined;
        let endShare = (): void => {};
        const shareEnded = new Promise<void>((resolve) => (endShare = resolve));
        const one = async (): Promise<void> => {
          while (next < end) {
            const key = await enrolled(`agent-${next++}`);
            if (given.push(key) === half) {
              // On a busy machine all others may have got theirs with it.
              killed = Promise.race([nextKeys(), shareEnded]).then(() => victims.forEach(kill));
            }
            const agent = new SimulatedAgent(key);
            agents.push(agent);
            agent.stay(ports.agents, RETRY_MS, NOTIFY_MS);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, one));
        endShare();
        await killed;
        await allRun();
      }
      const enrolledAt = performance.now();
      for (const name of DAEMONS) {
        const kills = KILLS.filter((victims) => victims.includes(name)).length;
        expect(pids[name]?.size, `processes of ${name} that were killed`).to.equal(kills);
      }

      await eventually('every agent is connected', () => agents.every(({ connected }) => connected), PATIENCE_MS);
      await eventually(
        'svc-db has every agent as active',
        async () => {
          const summary = await client.call('agents.summary', {}).catch(() => undefined);
          return summary?.connection.active === ENROLMENTS && summary.connection.total === ENROLMENTS;
        },
        PATIENCE_MS,
      );
      const activeAt = performance.now();

      const keys = await new ClientKeysFile(home.path('etc/client.keys')).read();
      const inFile = keys.agents.map(({ id, name, rawKey }) => `${id} ${name} ${rawKey}`);
      expect(inFile.sort()).to.deep.equal(given.map(({ id, name, key }) => `${id} ${name} ${key}`).sort());
      expect(keys.problems).to.deep.equal([]);
      const ids = [...keys.agents, ...keys.removed].map(({ id }) => id);
      expect(new Set(ids).size, 'ids that were ever given').to.equal(ids.length);
      const { items } = await client.call('agents.list', { select: ['id', 'name'], limit: 10_000 });
      const inDb = items.filter(({ id }) => id !== '000').map(({ id, name }) => `${String(id)} ${String(name)}`);
      expect(inDb.sort()).to.deep.equal(given.map(({ id, name }) => `${id} ${name}`).sort());
      const lost = agents.reduce((sum, agent) => sum + agent.lost, 0);
      expect(lost, 'connections that were cut').to.be.greaterThan(0);
      if (process.env['SVC_ENROLMENTS'] !== undefined) {
        const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
        console.log(
          `      ${given.length} agents in ${seconds(began, enrolledAt)} s, all active ${seconds(enrolledAt, activeAt)} s later; ` +
            `${keys.removed.length} enrolled twice, ${lost} connections were cut`,
        );
      }
    } finally {
      client.close();
      await sink.stop();
    }
  });
});

/** One request; what came of the answer before the connection ended, however it did. */
async function ask(port: number, request: string): Promise<string> {
  const socket = await connectEnrollment(port);
  return new Promise((resolve) => {
    let reply = '';
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    socket.on('data', (chunk) => (reply += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      resolve(reply);
    });
    socket.write(request);
  });
}

/** A port that nobody uses, out of the range of outgoing connections: it must be free again after each kill. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      continue;
    } finally {
      server.close();
    }
  }
}
