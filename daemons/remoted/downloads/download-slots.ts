import { DownloadError } from './download-error.js';

type Waiting = { readonly server: string; readonly begin: () => void };

/**
 * Lets so many downloads run at a time, and so many from one server: one that hangs holds up its own files only. Who
 * waits longest goes first.
 */
export class DownloadSlots {
  readonly #most: number;
  readonly #mostPerServer: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #active = 0;

  constructor(most: number, mostPerServer: number) {
    this.#most = most;
    this.#mostPerServer = mostPerServer;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs a task as soon as there is room.
   * @throws DownloadError `cancelled` when the signal comes first; what the task throws
   */
  async run<T>(server: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#enter(server, signal);
    try {
      return await task();
    } finally {
      this.#leave(server);
    }
  }

  #enter(server: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#waiting.delete(waiting);
        reject(new DownloadError('cancelled', 'cancelled'));
      };
      const waiting: Waiting = {
        server,
        begin: () => {
          signal.removeEventListener('abort', cancel);
          this.#waiting.delete(waiting);
          this.#active += 1;
          this.#running.set(server, (this.#running.get(server) ?? 0) + 1);
          resolve();
        },
      };
      if (signal.aborted) {
        cancel();
        return;
      }
      signal.addEventListener('abort', cancel, { once: true });
      this.#waiting.add(waiting);
      if (this.#hasRoom(server)) waiting.begin();
    });
  }

  #leave(server: string): void {
    this.#active -= 1;
    const left = (this.#running.get(server) ?? 1) - 1;
    if (left === 0) this.#running.delete(server);
    else this.#running.set(server, left);
    for (const waiting of this.#waiting) {
      if (this.#active >= this.#most) return;
      if (this.#hasRoom(waiting.server)) waiting.begin();
    }
  }

  #hasRoom(server: string): boolean {
    return this.#active < this.#most && (this.#running.get(server) ?? 0) < this.#mostPerServer;
  }
}
