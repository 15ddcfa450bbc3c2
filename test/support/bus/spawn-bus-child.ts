import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';

/** On a machine that is very busy a process takes half a minute to start. */
const START_MS = 90_000;

/** A started `bus-child.js`, which see. */
export class BusChild {
  output = '';
  readonly #exited: Promise<unknown>;

  private constructor(readonly process: ChildProcess) {
    process.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.#exited = once(process, 'exit');
  }

  /** Resolves when the child serves. */
  static async start(mode: 'server' | 'sink' | 'mute' | 'follow', path: string, file = ''): Promise<BusChild> {
    const script = fileURLToPath(new URL('bus-child.js', import.meta.url));
    const child = new BusChild(
      spawn(process.execPath, [script, mode, path, file], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    try {
      await eventually(`${mode} is ready`, () => child.output.includes('ready') || child.ended, START_MS);
    } catch (error) {
      await child.signal('SIGKILL');
      throw error;
    }
    if (!child.output.includes('ready')) throw new Error(`${mode} ended with ${child.process.exitCode}`);
    return child;
  }

  /** Whether a `mute` one has events that it does not acknowledge. */
  get appended(): boolean {
    return this.output.includes('appended');
  }

  get done(): boolean {
    return this.output.includes('done');
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Sends a signal and waits until it has its effect: the process has ended, or stands still. */
  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.process.kill(signal);
    if (signal === 'SIGKILL') await this.#exited;
    if (signal === 'SIGSTOP') {
      await eventually('it stands still', () => this.#threads().every((state) => state === 'T'));
    }
  }

  /** State letters of its threads: those that talk for it are libzmq's. */
  #threads(): string[] {
    const tasks = `/proc/${this.process.pid}/task`;
    return readdirSync(tasks).map((task) => {
      const stat = readFileSync(`${tasks}/${task}/stat`, 'latin1');
      return stat.charAt(stat.lastIndexOf(')') + 2);
    });
  }
}
