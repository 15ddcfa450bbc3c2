import type { KeyedLock } from '../../lib/async/keyed-lock.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ActiveEntry, ActiveResponses } from './active-responses.js';
import { parseResponseMessage, scriptLine } from './response-message.js';
import type { ResponsePolicy } from './response-policy.js';
import type { ResponseStore } from './response-store.js';

/** Pauses before something is tried again to be undone; then it is given up. Milliseconds. */
const PAUSES_MS: readonly number[] = [5_000, 30_000, 120_000];

export type ResponseUndoerParts = {
  readonly store: ResponseStore;
  readonly active: ActiveResponses;
  readonly policy: Pick<ResponsePolicy, 'programAt'>;
  readonly lock: KeyedLock;
  /** Runs a program with one line. @returns whether it went well @throws ScriptStartError */
  readonly run: (program: string, line: string) => Promise<boolean>;
  readonly logger: Logger;
};

/**
 * Undoes responses whose time is over: their script is started with `delete` (daemons-and-config.md 5.3). One is forgotten when
 * its script has ended, so that an end of this process in between has it undone again rather than never.
 */
export class ResponseUndoer {
  /** Responses undone since the start. */
  undone = 0;
  readonly #parts: ResponseUndoerParts;
  /** Failed attempts by id. */
  readonly #attempts = new Map<string, number>();

  constructor(parts: ResponseUndoerParts) {
    this.#parts = parts;
  }

  /** What is to be undone now, each given once. */
  due(): readonly ActiveEntry[] {
    const { active } = this.#parts;
    return active.due().map((entry) => active.undoing(entry));
  }

  /** @throws StoreError */
  async undo(entry: ActiveEntry): Promise<void> {
    const { active, lock } = this.#parts;
    await lock.exclusive(entry.key, async () => {
      const problem = await this.#delete(entry);
      if (problem === undefined) {
        this.undone += 1;
        return this.#forget(entry);
      }
      const attempt = this.#attempts.get(entry.id) ?? 0;
      const pause = PAUSES_MS[attempt];
      const failure = `Active response '${entry.key}' could not be undone: ${problem}`;
      if (pause === undefined) {
        this.#parts.logger.error(`${failure}; it is given up and stays in force.`);
        return this.#forget(entry);
      }
      this.#attempts.set(entry.id, attempt + 1);
      this.#parts.logger.error(`${failure}; it is tried again in ${String(pause / 1000)} s.`);
      active.postpone(entry, pause);
      return undefined;
    });
  }

  /** @returns what went wrong */
  async #delete(entry: ActiveEntry): Promise<string | undefined> {
    const { active, policy, run } = this.#parts;
    const found = policy.programAt(entry.program);
    if ('problem' in found) return found.problem;
    try {
      const message = parseResponseMessage(active.message(entry) ?? '');
      return (await run(found.program, scriptLine(message, 'delete', found.program))) ? undefined : 'its script failed';
    } catch (error) {
      return describeError(error);
    }
  }

  async #forget(entry: ActiveEntry): Promise<void> {
    const { store, active } = this.#parts;
    this.#attempts.delete(entry.id);
    const { changes, undo } = active.end(entry);
    try {
      await store.commit(changes, undo);
    } catch (error) {
      active.postpone(entry, PAUSES_MS[0] ?? 0);
      throw error;
    }
  }
}
