import { setTimeout as delay } from 'node:timers/promises';
import { BusError } from '../../lib/bus/bus-error.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

/** A notice is followed by a pause of this length: each may make svc-remoted read the whole file. */
const PAUSE_MS = 200;

/**
 * Tells svc-remoted that the key file changed, so that a new agent is let in at once. It is a matter of time only:
 * svc-remoted looks at the file by itself as well, so a notice that is lost does no harm.
 */
export class KeyNotice {
  #wanted = false;
  #running = false;
  #stopped = false;

  /** @param reload asks svc-remoted to read the keys; rejects when it is away */
  constructor(
    private readonly reload: () => Promise<unknown>,
    private readonly logger: Logger,
    private readonly sleep: (milliseconds: number) => Promise<unknown> = delay,
  ) {}

  /** The file was just replaced. Notices that come together become one. */
  changed(): void {
    if (this.#stopped) return;
    this.#wanted = true;
    if (!this.#running) void this.#run();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      try {
        await this.reload();
      } catch (error) {
        // One that does not run reads the keys when it starts.
        if (!(error instanceof BusError && error.code === 'unavailable')) {
          this.logger.debug(`svc-remoted was not told of new keys: ${describeError(error)}`);
        }
      }
      await this.sleep(PAUSE_MS);
    }
    this.#running = false;
  }
}
