import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process of agents tells of the time since it was asked last; times are milliseconds. */
export type AgentReport = {
  readonly acks: number;
  readonly lost: number;
  readonly p99: number;
  readonly max: number;
  /** All, ascending, in the mode `push`. */
  readonly latencies: readonly number[];
  /** How many agents have which merged file. */
  readonly sums: Readonly<Record<string, number>>;
  /** Files that did not come whole, since the start. */
  readonly broken: number;
};

/** Many agents in a process of their own. */
export class BenchAgents {
  private constructor(private readonly child: ChildProcess) {}

  /** Resolves when all are connected. @param first number of the first agent */
  static async start(
    mode: 'events' | 'keepalives' | 'push' | 'inventory',
    port: number,
    count: number,
    form: string,
    size: number,
    first = 1,
  ): Promise<BenchAgents> {
    const script = fileURLToPath(new URL('./bench-agents.js', import.meta.url));
    const child = fork(script, [mode, ...[port, count, form, size, first].map(String)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (data: Buffer) => process.stderr.write(data));
    await once(child, 'message');
    return new BenchAgents(child);
  }

  async report(): Promise<AgentReport> {
    const answer = once(this.child, 'message');
    this.child.send('report');
    const [report] = (await answer) as [AgentReport];
    return report;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
