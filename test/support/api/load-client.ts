import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What to ask the API: the same request again and again, on each connection the next one when the answer is there. */
export type LoadOrder = {
  readonly port: number;
  /** As it goes over the connection. */
  readonly request: string;
  /** Status that every answer must have. */
  readonly status: number;
  readonly connections: number;
  /** How long at most: {@link LoadClient.end} ends it earlier. */
  readonly seconds: number;
};

/** What came of it. Times are milliseconds, `cpu` seconds of the client's process, `bytes` those of one body. */
export type LoadReport = {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
};

/** Clients of the API in a process of their own, so that what they cost is not the server's. */
export class LoadClient {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(() => {
      throw new Error('the process of clients has ended');
    });
    this.#ended.catch(() => {});
  }

  static async start(): Promise<LoadClient> {
    const script = fileURLToPath(new URL('./load-process.js', import.meta.url));
    const child = fork(script, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    await once(child, 'message');
    return new LoadClient(child);
  }

  /**
   * @param warm called when all are connected and answered once, just before the time begins
   * @throws Error when an answer has another status, or a connection breaks
   */
  async run(order: LoadOrder, warm: () => void = () => {}): Promise<LoadReport> {
    this.#child.send(order);
    await this.#message();
    warm();
    const [report] = await this.#message();
    return report as LoadReport;
  }

  /** Ends what {@link run} is at. */
  end(): void {
    this.#child.send('end');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** @throws Error when the process has ended instead */
  async #message(): Promise<unknown[]> {
    const waited = new AbortController();
    try {
      return await Promise.race([once(this.#child, 'message', { signal: waited.signal }), this.#ended]);
    } finally {
      waited.abort();
    }
  }
}
