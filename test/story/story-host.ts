import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { liveProcess } from '../../bin/control/supervisor/live-process.js';
import { callSupervisor } from '../../lib/control/control-client.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { Home } from '../../lib/home/home.js';
import { isAlive } from '../../lib/process/process-identity.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { signalProcess } from '../chaos/processes-of-home.js';
import { productProgram } from '../support/daemon/product-program.js';
import { TestProgram } from '../support/daemon/run-program.js';
import { eventually } from '../support/eventually.js';
import { LOOPBACK, type Place } from '../support/place.js';

const POLL_MS = 20;
/** A daemon of a busy machine takes its time. */
const UP_MS = 60_000;
const COMMAND_MS = 60_000;

/** A home of the story, run as a user does: by the programs of bin/. */
export class StoryHost {
  readonly home: Home;
  readonly place: Place;
  readonly #daemons: readonly DaemonName[];
  readonly #guard: ChildProcess;
  #starting: Promise<void> | undefined;

  /** @param daemons that the story needs of it, and waits for */
  constructor(root: string, daemons: readonly DaemonName[], place = LOOPBACK) {
    this.home = new Home(root);
    this.place = place;
    this.#daemons = daemons;
    // Ends what runs on the home also when this process is killed.
    const guard = fileURLToPath(new URL('../chaos/guard.js', import.meta.url));
    this.#guard = spawn(process.execPath, [guard, dirname(root), basename(root)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  /** Runs a program of bin/ on the home. @throws Error with what it said when it fails @returns what it wrote */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await new TestProgram(
      productProgram(program),
      [...args, '--home', this.home.root],
      this.place,
    ).ended;
    if (code === 0) return stdout;
    throw new Error(`'${program} ${args.join(' ')}' ended with ${String(code)}: ${(stderr || stdout).trim()}`);
  }

  /** Names of the daemons that the story needs and that are not up. */
  async missing(): Promise<readonly DaemonName[]> {
    const status = await readDaemonStatus(this.home, this.#daemons);
    return this.#daemons.filter((name) => status.get(name)?.state !== 'running');
  }

  async waitUntilUp(): Promise<void> {
    await eventually(
      `all daemons run in ${this.home.root}`,
      async () => {
        if ((await this.missing()).length === 0) return true;
        await this.startAll();
        return false;
      },
      UP_MS,
    );
  }

  /** Starts what does not run at once, without the pause after a crash, as an operator would. */
  startAll(): Promise<void> {
    this.#starting ??= callSupervisor(this.home, { command: 'start' }, () => {}, COMMAND_MS)
      .then(() => {})
      // It says so when all run already.
      .catch(() => delay(POLL_MS))
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }

  /** kill -9; false when it does not run. Resolves when the process is gone. */
  async kill(daemon: DaemonName): Promise<boolean> {
    const identity = liveProcess(new RunFiles(this.home, daemon));
    if (identity === undefined || !signalProcess(identity, 'SIGKILL')) return false;
    while (isAlive(identity)) await delay(POLL_MS);
    return true;
  }

  /** Text of a file of the home; '' while it is not there. */
  read(...path: string[]): string {
    try {
      return readFileSync(this.home.path(...path), 'utf8');
    } catch {
      return '';
    }
  }

  /** Stops what runs there, whatever state it is in. @throws Error when it does not stop in order */
  async stop(): Promise<void> {
    try {
      await this.#starting;
      await this.run('svc-control', 'stop');
    } finally {
      const ended = once(this.#guard, 'exit');
      this.#guard.stdin?.end();
      if (this.#guard.exitCode === null) await ended;
    }
  }
}
