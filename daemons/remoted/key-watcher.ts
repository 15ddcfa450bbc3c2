import type { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Agent, AgentLink } from './agent-link.js';
import type { CounterFiles } from './link/counter-files.js';
import type { KeyStore } from './link/key-store.js';
import type { RemotedCounters } from './remoted-counters.js';
import { KEY_WATCH_MS } from './remoted-limits.js';

/** Bad lines of the key file that are logged; a file of another kind would fill the log. */
const MAX_LOGGED_PROBLEMS = 20;
/**
 * While agents are added, only those are read; after this time the whole file, as a change by hand at another place of it
 * may have come with them. Milliseconds.
 */
const WHOLE_MS = 60_000;
/** Reading a large file again and again must leave time for agents: this many times as long nothing is read. */
const REST_FACTOR = 2;

export type KeyWatcherParts = {
  readonly file: ClientKeysFile;
  readonly store: KeyStore<AgentLink>;
  readonly counterFiles: CounterFiles;
  readonly counters: RemotedCounters;
  readonly logger: Logger;
  /** Told of every agent whose key is gone. */
  readonly removed: (agent: Agent) => void;
  /** Told when the file was read. */
  readonly read?: () => void;
  /** Milliseconds of a clock that is not set. */
  readonly now?: () => number;
};

/** Keeps the keys in force the same as `etc/client.keys` (agents-and-groups.md 1.2 "Reload"). */
export class KeyWatcher {
  readonly #parts: KeyWatcherParts;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #problem: string | undefined;
  #stopped = false;
  /** When the whole file was read last, and whether agents were added since. */
  #wholeAt = -Infinity;
  #added = false;

  constructor(parts: KeyWatcherParts) {
    this.#parts = parts;
  }

  /** Reads the keys for the first time. @throws KeyFileError, or the file system's error */
  async start(): Promise<void> {
    this.#parts.logger.info('(1410): Reading authentication keys file.');
    await this.#read();
    this.#later(KEY_WATCH_MS);
  }

  /**
   * Reads the file now; what is written to it before the call is in force when it resolves.
   * @throws KeyFileError, or the file system's error; the keys in force then stay
   */
  async reload(): Promise<void> {
    if (this.#reading === undefined) return this.#reloadNow();
    // A reading that has begun may have missed the change; all who come meanwhile share the one after it.
    this.#again ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#again = undefined;
        return this.#reloadNow();
      });
    return this.#again;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #reloadNow(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  #later(milliseconds: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look(), milliseconds);
  }

  async #look(): Promise<void> {
    const start = performance.now();
    try {
      if (await this.#parts.file.changed()) {
        this.#parts.logger.info('(1409): Authentication file changed. Updating.');
        await this.reload();
      } else if (this.#added && this.#wholeDue) {
        await this.reload();
      }
      this.#problem = undefined;
    } catch (error) {
      const problem = `Keys of agents cannot be read, those known stay in force: ${describeError(error)}`;
      if (problem !== this.#problem) this.#parts.logger.error(problem);
      this.#problem = problem;
    }
    this.#later(Math.max(KEY_WATCH_MS, REST_FACTOR * (performance.now() - start)));
  }

  get #wholeDue(): boolean {
    return this.#now() - this.#wholeAt >= WHOLE_MS;
  }

  #now(): number {
    return this.#parts.now?.() ?? performance.now();
  }

  async #read(): Promise<void> {
    if (this.#wholeDue || !(await this.#readAdded())) await this.#readWhole();
    this.#parts.read?.();
  }

  /** @returns false when that is not all that has changed */
  async #readAdded(): Promise<boolean> {
    const { file, store, counters } = this.#parts;
    const added = await file.readAdded();
    if (added === undefined || added.some(({ id }) => store.byId(id) !== undefined)) return false;
    for (const key of added) store.put(key);
    this.#added ||= added.length > 0;
    counters.keysReloads += 1;
    return true;
  }

  async #readWhole(): Promise<void> {
    const { file, store, counterFiles, counters, logger, removed } = this.#parts;
    const { agents, problems } = await file.read();
    this.#wholeAt = this.#now();
    this.#added = false;
    const changes = store.replace(agents);
    counters.keysReloads += 1;
    for (const { text } of problems.slice(0, MAX_LOGGED_PROBLEMS)) logger.error(text);
    if (problems.length > MAX_LOGGED_PROBLEMS) {
      logger.error(`${String(problems.length - MAX_LOGGED_PROBLEMS)} more lines of the key file are not valid.`);
    }
    for (const agent of changes.removed) {
      removed(agent);
      // Under the same id there may be another agent now: its counters begin anew.
      await counterFiles.remove(agent.id).catch((error: unknown) => {
        logger.warn(`Counters of agent '${agent.id}' were not removed: ${describeError(error)}`);
      });
    }
  }
}
