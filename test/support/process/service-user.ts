import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initHome } from '../../../bin/control/home/init-home.js';
import { findServiceAccount, type ServiceAccount } from '../../../bin/control/home/service-account.js';
import { liveProcess } from '../../../bin/control/supervisor/live-process.js';
import { controlSocket, supervisorLock } from '../../../lib/control/control-protocol.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { Home } from '../../../lib/home/home.js';
import type { HomeRole } from '../../../lib/home/home-record.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import { type DaemonName, MANAGER_DAEMONS } from '../../../lib/product/daemon-names.js';
import { type ProgramResult, TestProgram } from '../daemon/run-program.js';
import { eventually } from '../eventually.js';
import { removeTree } from '../remove-tree.js';
import { watchLittle } from '../watch-little.js';

/** Why a test of privileges cannot run; undefined for root. */
export const notRoot = process.getuid?.() === 0 ? undefined : 'only root can make a home for a service user';

/** Skips a suite, with a line that says why, where its attacks cannot be made; to be called in its body. */
export function onlyAsRoot(): void {
  before(function () {
    if (notRoot === undefined) return;
    console.log(`    (skipped: ${notRoot})`);
    this.skip();
  });
}

/** An account that every host has and nothing here belongs to. */
const SERVICE_USER = 'nobody';

/** A home with a service user, as `svc-control install` makes it, and that user's hands in it. */
export class AttackedHome {
  readonly home: Home;
  readonly account: ServiceAccount;
  readonly #parent: string;
  readonly #programs: TestProgram[] = [];

  private constructor(parent: string, account: ServiceAccount) {
    this.#parent = parent;
    this.home = new Home(join(parent, 'home'));
    this.account = account;
  }

  static async make(role: HomeRole = 'server'): Promise<AttackedHome> {
    const parent = mkdtempSync(join(tmpdir(), 'svc-attack-'));
    // The service user must come to the home; what is in it decides by itself.
    chmodSync(parent, 0o755);
    const attacked = new AttackedHome(parent, findServiceAccount(SERVICE_USER));
    await initHome(attacked.home, { role, account: attacked.account });
    watchLittle(attacked.home);
    return attacked;
  }

  /**
   * Runs a line of shell as the service user, in the home.
   * @returns its exit code and what it said
   */
  attack(script: string): { readonly code: number | null; readonly output: string } {
    const { uid, gid } = this.account;
    const result = spawnSync('sh', ['-c', script], { uid, gid, cwd: this.home.root, encoding: 'utf8' });
    return { code: result.status, output: result.stdout + result.stderr };
  }

  /** The same with a program of JavaScript (ES module text). */
  attackWith(program: string): { readonly code: number | null; readonly output: string } {
    const { uid, gid } = this.account;
    const args = ['--input-type=module', '--eval', program];
    const result = spawnSync(process.execPath, args, { uid, gid, cwd: this.home.root, encoding: 'utf8' });
    return { code: result.status, output: result.stdout + result.stderr };
  }

  /** Gives the supervisor a request as the service user. @returns all it answers */
  ask(request: object): string {
    return this.attackWith(`import { connect } from 'node:net';
      const socket = connect(${JSON.stringify(controlSocket(this.home))});
      socket.on('connect', () => socket.write(${JSON.stringify(`${JSON.stringify(request)}\n`)}));
      socket.pipe(process.stdout);`).output;
  }

  /** Starts a process that goes on until the end of the test. @param args its arguments @returns its pid */
  linger(user: 'root' | 'service', ...args: string[]): Promise<number> {
    return this.#spawn(user, 'setInterval(() => {}, 1000); console.log()', args);
  }

  /** Has the service user listen on a socket of the home and answer each line with `answer`. */
  async serve(socket: string, answer: string): Promise<void> {
    const program = `const server = require('node:net').createServer((peer) => peer.on('data', () => peer.end(${JSON.stringify(answer)})));
      server.listen(${JSON.stringify(this.home.path(socket))}, () => console.log());`;
    await this.#spawn('service', program, []);
  }

  async #spawn(user: 'root' | 'service', program: string, args: readonly string[]): Promise<number> {
    const { uid, gid } = user === 'root' ? { uid: 0, gid: 0 } : this.account;
    const child = spawn(process.execPath, ['-e', program, '--', ...args], {
      uid,
      gid,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#lingering.push(() => child.kill('SIGKILL'));
    if (child.stdout !== null) await once(child.stdout, 'data');
    return child.pid ?? 0;
  }
  readonly #lingering: (() => void)[] = [];

  /** `svc-control` with real daemons, as root. @param daemons those that this run knows */
  control(daemons: readonly DaemonName[], ...args: string[]): TestProgram {
    const program = new TestProgram('product-control.js', [daemons.join(','), ...args, '--home', this.home.root]);
    this.#programs.push(program);
    return program;
  }

  /** The supervisor with these daemons; resolves when all of them run. @throws Error with what it said */
  async start(...daemons: DaemonName[]): Promise<TestProgram> {
    const supervisor = this.control(daemons, 'run', '--service');
    let ended: ProgramResult | undefined;
    void supervisor.ended.then((result) => (ended = result));
    await eventually('all daemons run', async () => {
      if (ended !== undefined) throw new Error(`the supervisor ended: ${ended.stderr}`);
      const states = await readDaemonStatus(this.home, daemons);
      return daemons.every((name) => states.get(name)?.state === 'running');
    });
    return supervisor;
  }

  /** Owner and mode of an entry of the home: `0:65534 1770`. */
  rights(path: string): string {
    const { uid, gid, mode } = statSync(this.home.path(path));
    return `${String(uid)}:${String(gid)} ${(mode & 0o7777).toString(8)}`;
  }

  /** Ends what runs and removes everything. */
  async remove(): Promise<void> {
    const supervisor = ProcessLock.holder(supervisorLock(this.home));
    if (supervisor !== undefined) process.kill(supervisor.pid, 'SIGKILL');
    for (const name of MANAGER_DAEMONS) {
      const live = liveProcess(new RunFiles(this.home, name));
      if (live !== undefined) process.kill(live.pid, 'SIGKILL');
    }
    for (const end of this.#lingering) end();
    for (const program of this.#programs) program.signal('SIGKILL');
    await Promise.all(this.#programs.map((program) => program.ended));
    removeTree(this.#parent);
  }
}
