import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listAgents, type ListParams } from '../../daemons/db/agent-list.js';
import { AgentStores } from '../../daemons/db/agent-stores.js';
import { summariseAgents } from '../../daemons/db/agent-summary.js';
import { agentsHandlers } from '../../daemons/db/agents-handlers.js';
import { withoutStore } from '../../daemons/db/alerts/without-store.js';
import { BackupFiles } from '../../daemons/db/backup/backup-files.js';
import { backupHandlers } from '../../daemons/db/backup/backup-handlers.js';
import { RegistryBackups } from '../../daemons/db/backup/registry-backups.js';
import { LocalGroups } from '../../daemons/db/groups/local-groups.js';
import { groupsHandlers } from '../../daemons/db/groups-handlers.js';
import { withoutCluster } from '../../daemons/db/presence/without-cluster.js';
import { Registry } from '../../daemons/db/registry.js';
import { readMemberships } from '../../daemons/remoted/push/read-memberships.js';
import type { CallParams } from '../../lib/bus/contract.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { sampleAgent } from '../support/db/sample-agents.js';
import { RecordingLogger } from '../support/recording-logger.js';

/*
 * Figures of svc-db: `npm run bench -- db [AGENTS]`, 100,000 by default. One process makes the agents, another loads
 * them and is measured. Lists: CPU time, while a thousand keepalives come between two of them; over the bus: wall time.
 */
const logger = new RecordingLogger();
const [first = '100000', role = 'main', directory = ''] = process.argv.slice(2);
const count = Number(first);
const context = { now: 1_795_000_000_000, managerVersion: 'Wazuh v4.14.7' };
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(58)} ${value}\n`);
const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;

async function fill(): Promise<void> {
  const registry = await Registry.open(directory, () => {});
  const started = performance.now();
  const names = ['default', ...Array.from({ length: 40 }, (_none, index) => `site-${index}`)];
  await registry.edit((edit) => {
    for (const name of names) edit.setGroup(name, { dateAdd: 0 });
  });
  for (let from = 0; from < count; from += 5000) {
    await registry.edit((edit) => {
      for (let id = from; id < Math.min(count, from + 5000); id += 1) {
        const { record, lastKeepAlive } = sampleAgent(id);
        const row = edit.setAgent(id, record);
        if (lastKeepAlive !== undefined) edit.setKeepAlive(row, lastKeepAlive);
      }
    });
  }
  await registry.close();
  line(`${count} agents made`, `${((performance.now() - started) / 1000).toFixed(1)} s`);
  line('data.mdb', mebibytes(statSync(join(directory, 'data.mdb')).size));
}

/** CPU milliseconds of this process: other users of the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, first ${(times[0] ?? 0).toFixed(1)} ms`;
}

async function serve(): Promise<void> {
  const started = cpuMs();
  const registry = await Registry.open(directory, () => {});
  line('loaded', `${(cpuMs() - started).toFixed(0)} ms CPU, RSS ${mebibytes(process.memoryUsage().rss)}`);
  const lists: [string, Partial<ListParams>][] = [
    ['limit=500', {}],
    [`limit=1 offset=${count - 1}`, { limit: 1, offset: count - 1 }],
    ['sort=-id offset=50000', { sort: '-id', offset: 50_000 }],
    ['sort=name', { sort: 'name' }],
    ['sort=-name', { sort: '-name' }],
    ['sort=-lastKeepAlive', { sort: '-lastKeepAlive' }],
    ['sort=os.version,name', { sort: 'os.version,name' }],
    ['sort=-version,status,ip', { sort: '-version,status,ip' }],
    ['status=disconnected', { status: 'disconnected' }],
    ['status=active&os.platform=ubuntu&sort=-dateAdd', { status: 'active', 'os.platform': 'ubuntu', sort: '-dateAdd' }],
    ['group=site-7', { group: 'site-7' }],
    ['name=(one)', { name: sampleAgent(777).record.name }],
    ['older_than=7d', { older_than: '7d' }],
    ['q=id!=000;os.name~deb,version=Wazuh v4.9.1', { q: 'id!=000;os.name~deb,version=Wazuh v4.9.1' }],
    ['q=lastKeepAlive>30d;group=site-9', { q: 'lastKeepAlive>30d;group=site-9' }],
    ['search=web-1', { search: 'web-1' }],
    ['select=os.name,version distinct', { select: ['os.name', 'version'], distinct: true }],
  ];
  const churn = (round: number) => {
    for (let index = 0; index < 1000; index += 1) {
      const row = registry.agents.get((round * 1000 + index * 37) % count);
      if (row !== undefined) registry.touch(row, 1_795_000_000 + round * 10 + index);
    }
  };
  for (const [name, params] of lists) {
    const times: number[] = [];
    for (let round = 0; round < 25; round += 1) {
      // As much as a second of a manager with 10,000 agents.
      churn(round);
      const from = cpuMs();
      listAgents(registry.agents, { limit: 500, offset: 0, ...params }, context);
      times.push(cpuMs() - from);
    }
    line(name, median(times));
  }
  const from = performance.now();
  summariseAgents(registry.agents.byId());
  line('summary', `${(performance.now() - from).toFixed(1)} ms`);
  line('with all indexes', `RSS ${mebibytes(process.memoryUsage().rss)}`);
  await overBus(registry);
  line('at the end', `RSS ${mebibytes(process.memoryUsage().rss)}`);
  await registry.close();
}

async function overBus(registry: Registry): Promise<void> {
  const path = join(directory, 'bus.sock');
  const now = () => context.now;
  const problems = { of: () => () => {} };
  const stores = await AgentStores.open({ directory, registry, logger, problems, now });
  const handlers = {
    ...commonHandlers('svc-db', { stats: () => ({}), sections: new Map(), reload: () => Promise.resolve([]) }),
    ...agentsHandlers(registry, new LocalGroups(registry), now, context.managerVersion),
    ...groupsHandlers(registry, new LocalGroups(registry), now),
    ...stores.handlers(),
    ...backupHandlers(
      new RegistryBackups({
        registry,
        authority: new LocalGroups(registry),
        files: new BackupFiles(join(directory, 'backup')),
        keys: () => Promise.resolve([]),
        settings: () => ({ enabled: false, interval: 1, max_files: 1 }),
        logger,
        setProblem: () => {},
        now,
      }),
    ),
    ...withoutCluster(),
    ...withoutStore(),
    'statistics.read': () => ({}),
  };
  const server = new RequestServer({ contract: dbContract, handlers, path, logger });
  await server.start();
  const client = new RequestClient({ contract: dbContract, path });
  const times: number[] = [];
  for (let round = 0; round < 100; round += 1) {
    const from = performance.now();
    await client.call('agents.list', { limit: 500, offset: round * 500 });
    times.push(performance.now() - from);
  }
  line('agents.list limit=500 over the bus', median(times));
  const agents = Array.from({ length: 1000 }, (_none, index) => ({
    id: String(1 + index).padStart(3, '0'),
    at: 1_795_009_000,
  }));
  const beats: number[] = [];
  for (let round = 0; round < 100; round += 1) {
    const from = performance.now();
    await client.call('agents.keepalives', { agents });
    beats.push(performance.now() - from);
  }
  line('agents.keepalives, 1000 in a call', median(beats));
  const md5 = (digit: number) => digit.toString(16).repeat(32);
  const flips: number[] = [];
  const counts: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const sums = [{ groups: ['default'], md5: md5(round % 16) }];
    let from = performance.now();
    await client.call('groups.sums', { sums });
    flips.push(performance.now() - from);
    from = performance.now();
    await client.call('agents.summary', {});
    counts.push(performance.now() - from);
  }
  line('groups.sums, a new file for the agents of default', median(flips));
  line('agents.summary after it', median(counts));
  const all: number[] = [];
  const fresh: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const ask = (params: CallParams<typeof dbContract, 'agents.memberships'>) =>
      client.call('agents.memberships', params);
    let from = performance.now();
    const { mark } = await readMemberships(ask);
    all.push(performance.now() - from);
    await client.call('agents.membership', {
      mode: 'override',
      agents: agents.map(({ id }) => ({ id, groups: [round % 2 === 0 ? 'site-1' : 'default'] })),
    });
    from = performance.now();
    await readMemberships(ask, mark);
    fresh.push(performance.now() - from);
  }
  line('agents.memberships, all agents', median(all));
  line('agents.memberships, 1000 that changed', median(fresh));
  const begun = performance.now();
  const waiting = 64;
  let next = 10_000_000;
  await Promise.all(
    Array.from({ length: waiting }, async () => {
      for (let index = 0; index < 30; index += 1) {
        const id = String(next++);
        await client.call('agents.register', { id, name: `new-${id}`, dateAdd: 1 });
      }
    }),
  );
  line(
    'agents.register, 64 at a time',
    `${Math.round((waiting * 30 * 1000) / (performance.now() - begun))}/s, each on disk`,
  );
  client.close();
  await server.stop();
  await stores.close();
}

if (role === 'fill') {
  await fill();
} else if (role === 'serve') {
  await serve();
} else {
  const made = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    for (const step of ['fill', 'serve']) {
      spawnSync(process.execPath, [fileURLToPath(import.meta.url), first, step, made], { stdio: 'inherit' });
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
