import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';

/** A started `bus-child.js`, which see. */
export class BusChild {
  output = '';
  readonly #exited: Promise<unknown>;

  private constructor(readonly process: ChildProcess) {
    process.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.#exited = once(process, 'exit');
  }

  /** Resolves when the child serves. */
  static async start(mode: 'server' | 'sink' | 'follow', path: string, file = ''): Promise<BusChild> {
    const script = fileURLToPath(new URL('bus-child.js', import.meta.url));
    const child = new BusChild(
      spawn(process.execPath, [script, mode, path, file], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    await eventually(`${mode} is ready`, () => child.output.includes('ready') || child.process.exitCode !== null);
    if (!child.output.includes('ready')) throw new Error(`${mode} ended with ${child.process.exitCode}`);
    return child;
  }

  get done(): boolean {
    return this.output.includes('done');
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Sends a signal and, unless the process lives on, waits for its end. */
  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.process.kill(signal);
    if (signal === 'SIGKILL') await this.#exited;
  }
}
