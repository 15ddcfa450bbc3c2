import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { buildMergedFile } from '../../lib/agentlink/merged-file.js';
import type { Home } from '../../lib/home/home.js';
import { ApiClient } from '../support/api/api-client.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { DbServer } from '../support/db/db-server.js';
import { sampleAgent } from '../support/db/sample-agents.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of the lists of agents and groups: `npm run bench -- agents-api [AGENTS]`, 100,000 agents by default and 1,000
 * groups with ten files each. The real svc-apid over
 * HTTPS; svc-db's tables are in the process of the client, one request after the other: wall time of whole requests.
 */
const count = Number(process.argv[2] ?? 100_000);
const ROUNDS = 30;
const LISTS = [
  'limit=500',
  'limit=500&offset=50000',
  `limit=1&offset=${String(count - 1)}`,
  'limit=500&sort=-lastKeepAlive',
  'limit=500&sort=os.name,name',
  'limit=500&sort=-version,status,ip',
  'limit=500&status=disconnected',
  'limit=1&status=active&os.platform=ubuntu&sort=-dateAdd',
  'limit=1&group=site-7',
  `name=${sampleAgent(777).record.name}`,
  'agents_list=001,002,777,99999',
  'limit=1&older_than=7d',
  'limit=1&q=id!=000;os.name~deb,version=Wazuh v4.9.1',
  'limit=1&search=web-1',
  'select=os.name,version&distinct=true',
  'limit=10000&select=name',
];
const COUNTS = [
  '/agents/summary/status',
  '/agents/summary',
  '/agents/summary/os',
  '/agents/stats/distinct?fields=os.name',
  '/overview/agents',
];

const GROUPS = [
  '/groups',
  '/groups?limit=1000',
  '/groups?limit=1000&select=name,count',
  '/groups?limit=1&sort=-mergedSum',
  '/groups?search=site-7',
  '/groups?groups_list=site-7,group-500',
  '/groups/site-7/agents',
  '/groups/group-500/files',
  '/groups/group-500/configuration',
  '/groups/group-500/files/merged.mg',
];
const GROUP_COUNT = 1000;
const FILES_A_GROUP = 10;

/** Folders for the groups that agents are in, and others beside them. */
async function fillGroups(home: Home, db: DbServer): Promise<void> {
  const sites = [...db.registry.groups.keys()];
  const others = Array.from({ length: GROUP_COUNT - sites.length }, (_none, index) => `group-${index}`);
  await db.groups(...others);
  const conf = '<agent_config><syscheck><directories>/etc,/usr/bin</directories></syscheck></agent_config>\n';
  for (const group of [...sites, ...others]) {
    const folder = home.path('etc', 'shared', group);
    mkdirSync(folder, { recursive: true });
    const files = Array.from({ length: FILES_A_GROUP - 1 }, (_none, index) => ({
      name: `policy-${index}.yml`,
      content: Buffer.alloc(5000, `${group} `),
    }));
    for (const { name, content } of files) writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, 'agent.conf'), conf);
    const merged = buildMergedFile(group, [{ name: 'agent.conf', content: Buffer.from(conf) }, ...files]);
    writeFileSync(join(folder, 'merged.mg'), merged);
  }
}

function line(name: string, times: readonly number[]): void {
  // The first one may build an index, which is then kept.
  const [first = 0, ...others] = times;
  const sorted = others.sort((a, b) => a - b);
  const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
  process.stdout.write(`${name.padEnd(70)} p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, first ${first.toFixed(0)} ms\n`);
}

async function measure(client: ApiClient, path: string): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const from = performance.now();
    const answer = await client.call('GET', encodeURI(path));
    times.push(performance.now() - from);
    if (answer?.status !== 200) throw new Error(`${path}: ${answer?.text ?? 'no answer'}`);
  }
  line(path, times);
}

const home = new TemporaryHome();
mkdirSync(home.path('api', 'configuration', 'security'), { recursive: true });
const settings = 'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n';
writeFileSync(home.path('api', 'configuration', 'api.yaml'), settings);
writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
const db = await DbServer.start(home, () => 1_795_000_000_000);
await db.fill(count);
await fillGroups(home, db);
const daemon = await RunningDaemon.start('svc-apid', home);
const connections = new Agent({ keepAlive: true });
try {
  const client = new ApiClient(home, connections);
  await client.call('GET', '/');
  for (const query of LISTS) await measure(client, `/agents?${query}`);
  for (const path of [...COUNTS, ...GROUPS]) await measure(client, path);
} finally {
  connections.destroy();
  await daemon.stop();
  await db.stop();
  home.remove();
}
