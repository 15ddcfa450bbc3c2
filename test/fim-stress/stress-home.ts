import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initHome } from '../../bin/control/home/init-home.js';
import { type ScanStatus, syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { ApiClient } from '../support/api/api-client.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { removeTree } from '../support/remove-tree.js';

/** Those that take part; svc-syscheckd comes last, when the others take what it tells. */
const DAEMONS: readonly DaemonName[] = ['svc-db', 'svc-analysisd', 'svc-apid', 'svc-syscheckd'];
const START_MS = 120_000;

/** How the files of a `StressHome` are watched. */
export type StressHomeOptions = {
  /** Seconds from the end of a scan to the next one. */
  readonly frequency: number;
  /** Whether svc-db hears of the files also by synchronisation. */
  readonly synchronization: boolean;
  /** Files it knows at most. */
  readonly fileLimit?: number;
};

/** A manager that watches directories beside its home: some in real time, others by scans only. */
export class StressHome {
  readonly home: Home;
  readonly api: ApiClient;
  /** Directories that are watched in real time. */
  readonly watched: readonly string[];
  /** Directories in which only scans look. */
  readonly scanned: readonly string[];
  /** On the same file system, and of no interest to anybody. */
  readonly staging: string;
  readonly #directory: string;
  readonly #client: RequestClient<typeof syscheckdContract>;
  readonly #daemons = new Map<DaemonName, RunningDaemon>();

  private constructor(directory: string) {
    this.#directory = directory;
    this.home = new Home(join(directory, 'home'));
    this.api = new ApiClient(this.home);
    this.#client = new RequestClient({ contract: syscheckdContract, path: this.home.socket('svc-syscheckd') });
    this.watched = ['live', 'live-too'].map((name) => join(directory, 'files', name));
    this.scanned = ['still'].map((name) => join(directory, 'files', name));
    this.staging = join(directory, 'staging');
  }

  static async make(options: StressHomeOptions): Promise<StressHome> {
    const made = new StressHome(mkdtempSync(join(tmpdir(), 'svc-fim-stress-')));
    for (const path of [...made.roots, made.staging]) mkdirSync(path, { recursive: true });
    await initHome(made.home, { role: 'server' });
    made.#configure(options);
    return made;
  }

  /** All that is watched. */
  get roots(): readonly string[] {
    return [...this.watched, ...this.scanned];
  }

  /** Where all of it lies. */
  get directory(): string {
    return this.#directory;
  }

  async start(): Promise<void> {
    for (const name of DAEMONS) await this.startDaemon(name);
  }

  async startDaemon(name: DaemonName): Promise<void> {
    this.#daemons.set(name, await RunningDaemon.start(name, this.home));
  }

  async kill(name: DaemonName): Promise<void> {
    await this.#daemons.get(name)?.stop('SIGKILL');
  }

  /** What a daemon of this home said since its last start; empty for one that was not started. */
  outputOf(name: DaemonName): string {
    return this.#daemons.get(name)?.output ?? '';
  }

  pidOf(name: DaemonName): number | undefined {
    return this.#daemons.get(name)?.process.pid;
  }

  /** Hands svc-syscheckd what a manager orders. */
  async order(text: string): Promise<void> {
    await this.#client.call('order', { text });
  }

  /** How the scans of files stand; undefined while svc-syscheckd does not answer. */
  async scans(): Promise<ScanStatus['fim'] | undefined> {
    try {
      return (await this.#client.call('scan.status', {})).fim;
    } catch {
      return undefined;
    }
  }

  /** Resolves when so many whole scans have begun and ended from now on. */
  async scansPass(count: number, deadlineMs = START_MS): Promise<void> {
    const before = await this.scans();
    // The one that runs now began before.
    const target = (before?.count ?? 0) + count + (before?.running === true ? 1 : 0);
    await eventually(
      `scan ${String(target)} ends`,
      async () => ((await this.scans())?.count ?? 0) >= target,
      deadlineMs,
    );
  }

  /** Ends everything. @param keep leaves the files for a look */
  async end(keep = false): Promise<void> {
    this.#client.close();
    await Promise.all([...this.#daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    if (!keep) removeTree(this.#directory);
  }

  #configure({ frequency, synchronization, fileLimit = 100_000 }: StressHomeOptions): void {
    const { home } = this;
    const yesNo = (value: boolean): string => (value ? 'yes' : 'no');
    writeFileSync(
      home.path('api', 'configuration', 'api.yaml'),
      "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\n",
    );
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
  <global><alerts_log>no</alerts_log><jsonout_output>yes</jsonout_output></global>
  <ruleset>
    <decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir>
  </ruleset>
  <auth><disabled>yes</disabled></auth>
  <rootcheck><disabled>yes</disabled></rootcheck>
  <syscheck>
    <disabled>no</disabled>
    <frequency>${String(frequency)}</frequency>
    <scan_on_start>yes</scan_on_start>
    <skip_dev>no</skip_dev>
    <max_eps>0</max_eps>
    <file_limit><enabled>yes</enabled><entries>${String(fileLimit)}</entries></file_limit>
    <directories realtime="yes">${this.watched.join(',')}</directories>
    <directories>${this.scanned.join(',')}</directories>
    <synchronization>
      <enabled>${yesNo(synchronization)}</enabled><interval>10s</interval><max_eps>0</max_eps>
    </synchronization>
  </syscheck>
</manager_config>
`,
    );
  }
}
