import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import type { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { eventually } from '../eventually.js';

/** A hook has no second try, and on a machine that is very busy a daemon takes half a minute to start. */
const START_MS = 90_000;

/** A real daemon on a temporary home, as a child of the test. */
export class RunningDaemon {
  output = '';

  private constructor(
    readonly process: ChildProcess,
    private readonly home: Home,
    private readonly name: DaemonName,
  ) {}

  /** Resolves when it has written where it listens. @throws Error with its output when it ends instead */
  static async start(name: DaemonName, home: Home): Promise<RunningDaemon> {
    const program = productCatalogue().program(name);
    if (program === undefined) throw new Error(`there is no ${name}`);
    const args = [...program.args, '-f', '--home', home.root];
    const child = spawn(program.command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const daemon = new RunningDaemon(child, home, name);
    child.stdout.on('data', (data: Buffer) => (daemon.output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (daemon.output += data.toString()));
    try {
      await eventually(
        `${name} runs`,
        () => {
          if (daemon.ended) throw new Error(`${name} ended: ${daemon.output}`);
          return existsSync(daemon.#record) && daemon.#read().pid === child.pid;
        },
        START_MS,
      );
    } catch (error) {
      await daemon.stop('SIGKILL');
      throw error;
    }
    return daemon;
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Port of a listener. */
  port(listener: string): number {
    const port = this.#read().addresses[listener]?.port;
    if (port === undefined) throw new Error(`${this.name} has no listener '${listener}'`);
    return port;
  }

  /** @returns its exit code; null after a signal that ends it at once */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.ended) {
      const exited = once(this.process, 'exit');
      this.process.kill(signal);
      await exited;
    }
    return this.process.exitCode;
  }

  get #record(): string {
    return this.home.path('var', 'run', `${this.name}.json`);
  }

  #read(): { pid: number; addresses: Record<string, { port?: number }> } {
    return JSON.parse(readFileSync(this.#record, 'utf8')) as {
      pid: number;
      addresses: Record<string, { port?: number }>;
    };
  }
}
