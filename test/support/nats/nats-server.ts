import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { ClusterMember } from '../../../bin/control/cluster/cluster-plan.js';
import { eventually } from '../eventually.js';
import { natsServerCommand } from './nats-program.js';

/** What `/jsz` of a server says, as far as tests look at it. */
export type JetStreamState = {
  readonly disabled?: boolean;
  readonly meta_cluster?: { readonly leader?: string; readonly cluster_size?: number };
};

/** A machine that starts many servers at once takes its time. */
const ANSWERS_MS = 120_000;
const MONITOR_MS = 2000;
/** With a process that is started for it. */
const MONITOR_ELSEWHERE_MS = 15_000;
/** Prints what a URL answers with success: for a server whose loopback address is another than this process has. */
const FETCH = `fetch(process.argv[1]).then(async (answer) => process.stdout.write(answer.ok ? await answer.text() : ''))`;

/** One real `nats-server`, on the loopback address or a host of its own. */
export class NatsServer {
  readonly member: ClusterMember;
  /** The member's folder, as `svc-control cluster init` makes it. */
  readonly folder: string;
  #child: ChildProcess | undefined;
  #output = '';

  readonly #before: readonly string[];

  /** @param before what stands before its command so that it runs where it should */
  constructor(member: ClusterMember, folder: string, before: readonly string[] = []) {
    this.member = member;
    this.folder = folder;
    this.#before = before;
  }

  get url(): string {
    return `tls://${this.member.host}:${this.member.port}`;
  }

  get pid(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  get running(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has said since the first start. */
  get output(): string {
    return this.#output;
  }

  /** Starts it where it does not run; resolves when it takes connections. @throws Error with what it said, when it ends */
  async start(): Promise<void> {
    if (this.running) return;
    const command = natsServerCommand(`${this.folder}/server/nats-server.conf`);
    const [program = '', ...args] = [...this.#before, ...command];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        this.#output += data.toString();
      });
    }
    process.once('exit', this.#killAtExit);
    await eventually(
      `NATS server ${this.member.name} answers`,
      async () => {
        if (!this.running) throw new Error(`nats-server ended: ${this.#output.slice(-2000)}`);
        return (await this.monitor('/varz')) !== undefined;
      },
      ANSWERS_MS,
    );
  }

  readonly #killAtExit = (): void => {
    this.#child?.kill('SIGKILL');
  };

  /** `kill -9`. Resolves when it is gone. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** An orderly end. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.running) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    // One that stands still hears only this.
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    await ended;
    process.off('exit', this.#killAtExit);
  }

  /** `kill -STOP`: it stands still, and its connections stay. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** `kill -CONT`. */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Has it read its configuration anew. */
  reload(): void {
    this.#child?.kill('SIGHUP');
  }

  /** JSON of its monitoring; undefined where it does not answer with success. */
  async monitor(path: string): Promise<unknown> {
    const url = `http://127.0.0.1:${this.member.monitorPort}${path}`;
    try {
      if (this.#before.length > 0) {
        const [program = '', ...args] = [...this.#before, process.execPath, '-e', FETCH, url];
        return JSON.parse(
          (await promisify(execFile)(program, args, { timeout: MONITOR_ELSEWHERE_MS })).stdout,
        ) as unknown;
      }
      const answer = await fetch(url, { signal: AbortSignal.timeout(MONITOR_MS) });
      return answer.ok ? await answer.json() : undefined;
    } catch {
      return undefined;
    }
  }

  /** What it knows of JetStream. */
  async jetStream(): Promise<JetStreamState | undefined> {
    return (await this.monitor('/jsz')) as JetStreamState | undefined;
  }
}
