import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAgentId } from '../../../lib/agentlink/agent-identity.js';
import { type CounterPair, formatCounters } from '../../../lib/agentlink/message-counters.js';
import { readCounters } from '../../../lib/agentlink/sender-counter.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { withRegularFile, withRegularFileSync } from '../../../lib/files/regular-file.js';

const MODE = 0o640;

/** Default of `remoted.recv_counter_flush`: messages received between two writes. */
const FLUSH_EVERY = 128;

/**
 * The counters received last, one file an agent in `queue/rids` (agents-and-groups.md 3.4). After every so many messages,
 * counted over all agents, the file of the agent that sent the last one is written; one write is under way at a time,
 * and of an agent only the newest counters wait. `close` writes the others.
 */
export class CounterFiles {
  readonly #directory: string;
  readonly #flushEvery: number;
  readonly #onProblem: (error: unknown) => void;
  /** Not yet written, newest counters of each agent. */
  readonly #noted = new Map<string, CounterPair>();
  /** To be written, in this order. */
  readonly #due = new Set<string>();
  #messages = 0;
  #writing: Promise<void> | undefined;

  /** @param onProblem told when a file cannot be read or written */
  constructor(directory: string, onProblem: (error: unknown) => void, flushEvery: number = FLUSH_EVERY) {
    this.#directory = directory;
    this.#onProblem = onProblem;
    this.#flushEvery = flushEvery;
  }

  /** The counters an agent had; undefined when there are none, or none that can be read. */
  read(id: string): CounterPair | undefined {
    const noted = this.#noted.get(id);
    if (noted !== undefined) return noted;
    const path = this.#path(id);
    try {
      return ifPresentSync(() => withRegularFileSync(path, readCounters));
    } catch (error) {
      this.#onProblem(error);
      return undefined;
    }
  }

  /** Notes the counters of an accepted message. */
  note(id: string, counters: CounterPair): void {
    this.#noted.set(id, counters);
    this.#messages += 1;
    if (this.#messages < this.#flushEvery) return;
    this.#messages = 0;
    this.#due.add(id);
    this.#start();
  }

  /** Removes the file of an agent that is no more (1.4). */
  async remove(id: string): Promise<void> {
    this.#noted.delete(id);
    this.#due.delete(id);
    await this.#writing;
    await rm(this.#path(id), { force: true });
  }

  /** Writes all that is noted. Resolves when it is on its way to the disk. */
  async close(): Promise<void> {
    for (const id of this.#noted.keys()) this.#due.add(id);
    // A file that cannot be written is no longer due, so this ends.
    while (this.#due.size > 0) {
      this.#start();
      await this.#writing;
    }
    await this.#writing;
  }

  #start(): void {
    this.#writing ??= this.#writeDue().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeDue(): Promise<void> {
    for (const id of this.#due) {
      this.#due.delete(id);
      const counters = this.#noted.get(id);
      if (counters === undefined) continue;
      this.#noted.delete(id);
      try {
        await this.#write(id, formatCounters(counters));
      } catch (error) {
        // Newer counters may have been noted meanwhile; these are kept only where there are none.
        if (!this.#noted.has(id)) this.#noted.set(id, counters);
        this.#onProblem(error);
      }
    }
  }

  async #write(id: string, text: string): Promise<void> {
    await withRegularFile(this.#path(id), (file) => file.write(text, 0, 'latin1'), { access: 'write', makeMode: MODE });
  }

  #path(id: string): string {
    // The id comes from the key file; nothing else may become part of a path.
    if (!isAgentId(id)) throw new RangeError('not the id of an agent');
    return join(this.#directory, id);
  }
}
