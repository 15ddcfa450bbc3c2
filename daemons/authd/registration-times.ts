import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ifPresent } from '../../lib/files/if-present.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { KeyRegistry } from './key-registry.js';

/** Only the service reads it (daemons-and-config.md 3.11). */
const MODE = 0o600;
/** The file follows the keys within this time, milliseconds: with a large fleet it is not written for each agent. */
const SAVE_DELAY_MS = 1000;
/** Nor all the time: it is written whole, and after that not for so many times as long as that took. */
const SAVE_SHARE = 20;

/**
 * When each agent was registered: `queue/agents-timestamp`, `<id> <name> <ip> <date> <time>` a line in local time
 * (agents-and-groups.md 1.3). Times are seconds since 1970.
 */
export class RegistrationTimes {
  readonly #times = new Map<string, number>();
  /** Agents of the key file that the file of times did not know at start. */
  readonly #unanswered = new Set<string>();
  /** Whether there was a file at start. */
  #kept = false;
  #timer: NodeJS.Timeout | undefined;
  /** How long it took to write the file, milliseconds. */
  #saveMs = 0;

  constructor(
    private readonly path: string,
    private readonly keys: Pick<KeyRegistry, 'agents'>,
    private readonly logger: Logger,
    private readonly owner?: { readonly uid: number; readonly gid: number },
  ) {}

  /** Reads the file; lines that are none are left out. @throws the file system's error, unless it is missing */
  async load(): Promise<void> {
    this.#kept = existsSync(this.path);
    for (const line of ((await ifPresent(() => readFile(this.path, 'latin1'))) ?? '').split('\n')) {
      const match = /^(\d{3,8}) \S+ \S+ (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(line);
      if (match === null) continue;
      const [, id = '', ...numbers] = match;
      const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = numbers.map(Number);
      const time = new Date(year, month - 1, day, hour, minute, second).getTime();
      if (time >= 0) this.#times.set(id, Math.floor(time / 1000));
    }
  }

  /**
   * Completes what was read from the keys, once they are read. The times follow the keys a little later, so an agent
   * without a time was registered just before the process was killed: nobody knows whether it got its key.
   * @param now seconds since 1970
   */
  complete(now: number): void {
    for (const { id } of this.keys.agents) {
      if (this.#times.has(id)) continue;
      // Without a file the times are new, and the agents are not.
      this.set(id, now);
      if (this.#kept) this.#unanswered.add(id);
    }
    // From the very first agent on: one that is killed with the process must not look like one that was always there.
    if (!this.#kept) this.#save();
  }

  /** Whether there was a file when this process started. */
  get kept(): boolean {
    return this.#kept;
  }

  /** Whether the agent may never have got its key. */
  unanswered(id: string): boolean {
    return this.#unanswered.has(id);
  }

  get(id: string): number | undefined {
    return this.#times.get(id);
  }

  set(id: string, seconds: number): void {
    this.#unanswered.delete(id);
    this.#times.set(id, seconds);
    this.#saveSoon();
  }

  remove(id: string): void {
    this.#unanswered.delete(id);
    if (this.#times.delete(id)) this.#saveSoon();
  }

  /** Writes what is still to be written. */
  close(): void {
    if (this.#timer !== undefined) this.#save();
  }

  #saveSoon(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#save();
      },
      Math.max(SAVE_DELAY_MS, SAVE_SHARE * this.#saveMs),
    );
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const began = performance.now();
    const lines: string[] = [];
    for (const { id, name, ip } of this.keys.agents) {
      const time = this.#times.get(id);
      if (time !== undefined) lines.push(`${id} ${name} ${ip} ${localTime(time)}\n`);
    }
    try {
      writeFileAtomically(this.path, lines.join(''), {
        mode: MODE,
        ...(this.owner === undefined ? {} : { owner: this.owner }),
      });
    } catch (error) {
      this.logger.error(`Unable to write '${this.path}': ${describeError(error)}`);
    }
    this.#saveMs = performance.now() - began;
  }
}

function localTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
