import { TestApi } from '../support/api/test-api.js';
import { TestCluster } from '../support/api/test-cluster.js';
import { DbServer } from '../support/db/db-server.js';
import { delta, packageRow } from '../support/inventory/inventory-messages.js';

/*
 * What operations cost that several nodes answer: `npm run bench -- cluster-api [AGENTS] [PACKAGES]`, 100,000 agents with ten packages each by
 * default, on one node and on three. All nodes, their svc-db and the client are in this process, so that three nodes share one
 * core: what they ask each other is encoded as on the bus, and does not go through NATS. Wall time of whole requests.
 */
const count = Number(process.argv[2] ?? 100_000);
const packages = Number(process.argv[3] ?? 10);
const ROUNDS = 7;
const ON = {
  experimentalFeatures: true,
  requestTimeoutMs: 0,
  access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 },
};
const NODES = ['node01', 'node02', 'node03'];
const PATHS = [
  '/agents?limit=500',
  '/agents?limit=500&sort=-lastKeepAlive',
  '/overview/agents',
  '/syscollector/00004/packages',
  '/sca/00004',
  '/experimental/syscollector/packages',
  '/experimental/syscollector/packages?offset=500000',
  '/experimental/syscollector/packages?name=package-3',
  '/experimental/syscollector/packages?sort=-version,name',
  '/experimental/syscollector/packages?sort=name&offset=20000',
  '/experimental/syscollector/packages?search=package-9',
  '/experimental/syscollector/packages?limit=20000',
];

const idText = (id: number) => String(id).padStart(3, '0');

async function fillPackages(db: DbServer, owns: (id: number) => boolean): Promise<void> {
  let position = 0;
  for (let from = 1; from <= count; from += 2000) {
    const operations = [];
    for (let id = from; id < Math.min(count + 1, from + 2000); id += 1) {
      if (!owns(id)) continue;
      for (let index = 0; index < packages; index += 1) {
        const text = delta('packages', 'INSERTED', packageRow(`package-${index}`, { version: `${id % 97}.${index}` }));
        position += 1;
        operations.push({ position, agent: idText(id), kind: 'inventory' as const, at: 1, message: Buffer.from(text) });
      }
    }
    if (operations.length > 0) await db.stores.inventory.apply({ journal: 'one', operations, upTo: position });
  }
}

async function median(api: TestApi, path: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    const answer = await api.call('GET', path);
    times.push(performance.now() - from);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

const single = new TestApi();
single.patient = true;
await single.start(ON);
const db = await DbServer.start(single.home, () => single.now);
await db.fill(count);
await fillPackages(db, () => true);
const alone = new Map<string, number>();
for (const path of PATHS) alone.set(path, await median(single, path));
await single.stop();
await db.stop();
await single.remove();

const nodeOf = (id: number) => NODES[id % 3] ?? '';
const cluster = await TestCluster.start(NODES, ON, true);
await cluster.fill(count, nodeOf);
for (const { name, db: own } of cluster.nodes.values()) await fillPackages(own, (id) => nodeOf(id) === name);
const { api } = cluster.node('node01');
for (const path of PATHS) {
  const one = alone.get(path) ?? 0;
  const three = await median(api, path);
  const times = `${one.toFixed(1).padStart(9)} ms ${three.toFixed(1).padStart(9)} ms ${(three / one).toFixed(1).padStart(6)}`;
  console.log(`${path.padEnd(64)}${times}`);
}
await cluster.remove();
