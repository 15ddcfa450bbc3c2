import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { initHome } from '../../../bin/control/home/init-home.js';
import { type ScanStatus, syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { ApiClient } from '../api/api-client.js';
import type { ApiList } from '../api/api-list.js';
import { RunningDaemon } from '../daemon/running-daemon.js';
import { eventually } from '../eventually.js';
import { removeTree } from '../remove-tree.js';
import { TemporaryHome } from '../temporary-home.js';

const WAIT_MS = 60_000;

/** An alert about a file, as logs/alerts/alerts.json has it. */
export type FileAlert = {
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly location: string;
  readonly full_log: string;
  readonly syscheck: Readonly<Record<string, unknown>> & { readonly path: string; readonly event: string };
};

/** A manager with real daemons that watches a tree of files of the test's own. */
export class FimHome extends TemporaryHome {
  readonly tree = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  readonly #api = new ApiClient(this);
  readonly syscheckd = new RequestClient({ contract: syscheckdContract, path: this.socket('svc-syscheckd') });
  readonly #daemons = new Map<DaemonName, RunningDaemon>();

  /** @param sections of etc/manager.conf */
  async init(sections: string): Promise<this> {
    await initHome(this, { role: 'server' });
    writeFileSync(
      this.path('api', 'configuration', 'api.yaml'),
      'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n',
    );
    this.configure(sections);
    return this;
  }

  configure(sections: string): void {
    writeFileSync(this.path('etc', 'manager.conf'), `<manager_config>\n${sections}\n</manager_config>\n`);
  }

  /** @param lines of etc/local_internal_options.conf */
  options(...lines: readonly string[]): void {
    writeFileSync(this.path('etc', 'local_internal_options.conf'), `${lines.join('\n')}\n`);
  }

  async start(...names: readonly DaemonName[]): Promise<void> {
    for (const name of names) this.#daemons.set(name, await RunningDaemon.start(name, this));
  }

  daemon(name: DaemonName): RunningDaemon {
    const daemon = this.#daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} was not started`);
    return daemon;
  }

  /** Below the tree that is watched. */
  file(...parts: readonly string[]): string {
    return join(this.tree, ...parts);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(this.file(path)), { recursive: true });
    writeFileSync(this.file(path), content);
  }

  status(): Promise<ScanStatus> {
    return this.syscheckd.call('scan.status', {});
  }

  /** Resolves when so many scans of files have been finished since svc-syscheckd began. */
  async scanned(count: number): Promise<void> {
    await eventually(`${count} scans`, async () => (await this.status()).fim.count >= count, WAIT_MS);
  }

  /** Alerts about files so far, as `rule path`, the paths relative to the tree. */
  alerts(): string[] {
    return this.fileAlerts().map(({ rule, syscheck }) => `${rule.id} ${syscheck.path.slice(this.tree.length + 1)}`);
  }

  fileAlerts(): FileAlert[] {
    const path = this.path('logs', 'alerts', 'alerts.json');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line.includes('"syscheck"'))
      .map((line) => JSON.parse(line) as FileAlert)
      .filter(({ syscheck }) => syscheck !== undefined);
  }

  /** Waits for alerts beyond the first `known`, and gives them in the order of the alphabet. */
  async alerted(known: number, ...expected: readonly string[]): Promise<string[]> {
    await eventually(
      `alerts ${expected.join(', ')} behind ${this.alerts().slice(0, known).join(', ')}`,
      () => this.alerts().length >= known + expected.length,
      WAIT_MS,
    );
    return this.alerts().slice(known).sort();
  }

  /** Asks the API as the administrator. @throws Error for an answer that is none */
  async ask<T>(method: string, path: string): Promise<T> {
    const answer = await eventually(`${method} ${path}`, () => this.#api.call(method, path));
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json() as T;
  }

  /** Entries of an agent by their paths, relative to the tree. */
  async records(agent = '000'): Promise<Map<string, Readonly<Record<string, unknown>>>> {
    const { data } = await this.ask<ApiList>('GET', `/syscheck/${agent}?limit=100000`);
    return new Map(data.affected_items.map((item) => [String(item['file']).slice(this.tree.length + 1), item]));
  }

  async close(): Promise<void> {
    this.syscheckd.close();
    await Promise.all([...this.#daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    removeTree(this.tree);
    this.remove();
  }
}
