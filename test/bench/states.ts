/**
 * Prints what svc-monitord does with inventories for a search engine: documents a second of the first copy of all rows, then
 * of changes, and what both daemons use of the CPU; then at rest. `npm run bench -- states [rows]`; the receiver, which answers
 * at once, is a child, which runs this file with its role.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { productRoot } from '../../lib/product/product-root.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { delta, packageRow } from '../support/inventory/inventory-messages.js';
import { calibrate } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { TemporaryHome } from '../support/temporary-home.js';

const ROWS_PER_AGENT = 1000;
const CHANGES = 50_000;
const REST_SECONDS = 10;
const LOOK_MS = 20;

/** A search engine that takes everything, and tells how many documents there were. */
async function receive(): Promise<void> {
  let documents = 0;
  let bytes = 0;
  const made = new Set<string>();
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const [, name = '', what] = /^\/([\w.-]+)(?:\/(\w+))?/.exec(url) ?? [];
      if (what === '_settings' && !made.has(name)) {
        response.statusCode = 404;
        response.end('{}');
        return;
      }
      if (method === 'PUT') made.add(name);
      if (name === '_bulk') bytes += body.length;
      const answer = name === '_bulk' ? bulk(body.toString('latin1')) : answerTo(url, name, what);
      response.end(answer);
    });
  });
  const bulk = (body: string): string => {
    const indexed = body.split('{"index":{').length - 1;
    const deleted = body.split('{"delete":{').length - 1;
    documents += indexed;
    const items = Array.from({ length: indexed + deleted }, () => '{"index":{"status":201}}');
    return `{"errors":false,"items":[${items.join(',')}]}`;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => process.send?.({ documents, bytes }));
  process.send?.({ port: (server.address() as AddressInfo).port });
}

function answerTo(url: string, name: string, what: string | undefined): string {
  if (url.startsWith('/_cat/health')) return '[{"status":"green"}]';
  if (what === '_settings') return `{"${name}":{"settings":{"index":{"uuid":"one"}}}}`;
  if (what === '_mapping') return `{"${name}":{"mappings":{}}}`;
  if (what === '_search') return '{"aggregations":{"agents":{"buckets":[]}}}';
  return '{}';
}

async function seen(child: ChildProcess): Promise<{ readonly documents: number; readonly bytes: number }> {
  child.send('report');
  const [report] = (await once(child, 'message')) as [{ documents: number; bytes: number }];
  return report;
}

class Bench {
  readonly #home = new TemporaryHome();
  readonly #db = new RequestClient({ contract: dbContract, path: this.#home.socket('svc-db') });
  readonly #daemons = new Map<'svc-db' | 'svc-monitord', RunningDaemon>();
  #position = 0;

  async run(rows: number): Promise<void> {
    const child = fork(fileURLToPath(import.meta.url), ['receive']);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    try {
      await this.#fill(rows);
      this.#configure(port);
      await this.#daemon('svc-monitord');
      await this.#measure(child, 'copy', rows);
      const changes = Math.min(CHANGES, rows);
      const changing = this.#change(changes);
      await this.#measure(child, 'changes', changes, rows);
      await changing;
      const before = this.#cpu();
      await delay(REST_SECONDS * 1000);
      const after = this.#cpu();
      const share = (one: number): string => `${((one / REST_SECONDS) * 100).toFixed(2)}%`;
      console.log(
        `at rest: svc-monitord ${share(after.monitord - before.monitord)}, svc-db ${share(after.db - before.db)}`,
      );
    } finally {
      child.kill('SIGKILL');
      for (const daemon of this.#daemons.values()) await daemon.stop('SIGKILL');
      this.#db.close();
      this.#home.remove();
    }
  }

  async #daemon(name: 'svc-db' | 'svc-monitord'): Promise<void> {
    this.#daemons.set(name, await RunningDaemon.start(name, this.#home));
  }

  #configure(port: number): void {
    const host = `<host>http://127.0.0.1:${String(port)}</host>`;
    const text = `<ossec_config><indexer><enabled>yes</enabled><hosts>${host}</hosts></indexer></ossec_config>`;
    writeFileSync(this.#home.path('etc', 'manager.conf'), text);
  }

  async #fill(rows: number): Promise<void> {
    const home = this.#home;
    for (const directory of ['queue/db', 'logs/alerts', 'logs/archives']) {
      mkdirSync(home.path(directory), { recursive: true });
    }
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
    writeFileSync(home.path('etc', 'manager.conf'), '<ossec_config/>');
    await this.#daemon('svc-db');
    for (let agent = 1; agent <= rows / ROWS_PER_AGENT; agent += 1) {
      const id = String(agent).padStart(3, '0');
      await this.#db.call('agents.register', { id, name: `box${id}`, dateAdd: 1_700_000_000 });
      await this.#store(id, 'Demo <demo@example.org>');
    }
  }

  /** Each row once. */
  async #change(rows: number): Promise<void> {
    for (let agent = 1; agent <= rows / ROWS_PER_AGENT; agent += 1) {
      await this.#store(String(agent).padStart(3, '0'), 'somebody else');
    }
  }

  /** All rows of an agent. */
  async #store(agent: string, vendor: string): Promise<void> {
    const operations = Array.from({ length: ROWS_PER_AGENT }, (_, index) => {
      const message = Buffer.from(delta('packages', 'INSERTED', packageRow(`package-${String(index)}`, { vendor })));
      return { position: this.#position + index, agent, kind: 'inventory' as const, at: 0, message };
    });
    this.#position += operations.length;
    await this.#db.call('inventory.apply', { journal: 'bench', operations, upTo: this.#position });
  }

  #cpu(): { readonly monitord: number; readonly db: number; readonly rss: number } {
    const monitord = processUsage(this.#daemons.get('svc-monitord')?.process.pid);
    return {
      monitord: monitord.cpu,
      rss: monitord.peak,
      db: processUsage(this.#daemons.get('svc-db')?.process.pid).cpu,
    };
  }

  /** Waits for so many documents behind those that there were. */
  async #measure(child: ChildProcess, what: string, count: number, from = 0): Promise<void> {
    const begun = performance.now();
    const before = this.#cpu();
    let report = await seen(child);
    for (; report.documents < from + count; report = await seen(child)) await delay(LOOK_MS);
    const seconds = (performance.now() - begun) / 1000;
    const { monitord, db, rss } = this.#cpu();
    const each = (spent: number): string => `${((spent * 1e6) / count).toFixed(1)} us`;
    console.log(
      `${what}: ${Math.round(count / seconds).toLocaleString('en-US')} documents/s of ${String(Math.round(report.bytes / report.documents))} bytes; ` +
        `CPU each: svc-monitord ${each(monitord - before.monitord)}, svc-db ${each(db - before.db)}; svc-monitord ${rss.toFixed(0)} MiB at most`,
    );
  }
}

const [role] = process.argv.slice(2);
if (role === 'receive') {
  await receive();
} else {
  const { sha256Seconds, regExpSeconds } = calibrate();
  console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s of CPU`);
  await new Bench().run(Number(role ?? 100_000));
  process.exit(0);
}
