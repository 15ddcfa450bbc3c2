import { KeyedLock } from '../../lib/async/keyed-lock.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Change } from '../../lib/store/commit-queue.js';
import { type ActiveEntry, type ActiveResponses, MAX_ACTIVE } from './active-responses.js';
import { parseCheckKeys, responseKey, type ResponseMessage, scriptLine } from './response-message.js';
import type { ResponsePolicy } from './response-policy.js';
import type { ResponseStore, StoredRun } from './response-store.js';

export type ResponseDialogueParts = {
  readonly store: ResponseStore;
  readonly active: ActiveResponses;
  readonly policy: Pick<ResponsePolicy, 'spares' | 'repeatedOffenders'>;
  readonly logger: Logger;
};

/** A script that was asked to add. */
export type AddedScript = {
  /** Of the stored run. */
  readonly id: number;
  /** As it is stored. */
  readonly run: StoredRun;
  readonly message: ResponseMessage;
  readonly program: string;
  /** Seconds; 0 for a response that is not undone. */
  readonly timeout: number;
};

/** The dialogue with one script. */
export type DialogueTurn = {
  /** Answers `check_keys`. @throws StoreError: the script gets no answer and does nothing */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** The script has its answer. @throws StoreError */
  readonly told: () => Promise<void>;
  /** Whether the run has left the store. */
  readonly settled: boolean;
  /** Once the script has ended. */
  readonly close: () => void;
};

/**
 * What scripts are answered that ask whether their keys are new (daemons-and-config.md 5.3). A key and when it is to be undone
 * are on disk before `continue` is said: whatever comes then, it is undone. That the run is through is noted once it was said:
 * when the process ends in between, the script is started again and told so once more, so that it acts in any case.
 */
export class ResponseDialogue {
  /** Of each key: who adds until its script has ended, and who undoes. */
  readonly lock = new KeyedLock();
  readonly #parts: ResponseDialogueParts;

  constructor(parts: ResponseDialogueParts) {
    this.#parts = parts;
  }

  open(added: AddedScript): DialogueTurn {
    let release: () => void = () => {};
    let settled = false;
    return {
      get settled() {
        return settled;
      },
      ask: async (question) => {
        const keys = parseCheckKeys(question);
        if (keys === undefined) {
          const shown = question.slice(0, 256);
          this.#parts.logger.warn(`(1315): Invalid JSON message: '${shown}': '${added.program}' gets no answer.`);
          return undefined;
        }
        const key = responseKey(scriptName(added.program), keys);
        const answer = await this.#answer(added, keys, key, async () => {
          release = await this.lock.take([key]);
        });
        settled = answer === 'abort';
        return scriptLine(added.message, answer, added.program);
      },
      told: async () => {
        if (settled) return;
        await this.#through(added);
        settled = true;
      },
      close: () => {
        release();
      },
    };
  }

  async #answer(
    added: AddedScript,
    keys: readonly string[],
    key: string,
    alone: () => Promise<void>,
  ): Promise<'continue' | 'abort'> {
    const { active, policy, logger } = this.#parts;
    const spared = keys.find((each) => policy.spares(each));
    if (spared !== undefined) {
      logger.warn(`Active response '${added.program}' refused: '${spared}' is on the white list.`);
      await this.#through(added);
      return 'abort';
    }
    if (added.timeout === 0) {
      await alone();
      return 'continue';
    }
    const isBegun = added.run.answered === key;
    const before = active.get(key);
    if (before !== undefined && !before.undoing && !isBegun) {
      await this.#again(added, before);
      return 'abort';
    }
    await alone();
    const meanwhile = active.get(key);
    if (isBegun) {
      if (meanwhile !== undefined) return 'continue';
      // Its time was over before this process began.
      await this.#through(added);
      return 'abort';
    }
    if (meanwhile !== undefined) {
      await this.#again(added, meanwhile);
      return 'abort';
    }
    if (active.size >= MAX_ACTIVE) {
      logger.error(`Active response '${added.program}' refused: ${String(MAX_ACTIVE)} are in force already.`);
      await this.#through(added);
      return 'abort';
    }
    await this.#enter(added, key);
    return 'continue';
  }

  /** A key that is in force: its time begins again. */
  async #again(added: AddedScript, before: ActiveEntry): Promise<void> {
    const { active } = this.#parts;
    const { seconds, plan } = this.#hit(before.key, before.timeout);
    const prolonged = active.prolong(before, seconds);
    await this.#through(added, [...plan.changes, ...prolonged.changes], () => {
      prolonged.undo();
      plan.undo();
    });
  }

  async #enter(added: AddedScript, key: string): Promise<void> {
    const { active } = this.#parts;
    const { seconds, plan } = this.#hit(key, added.timeout);
    const message = JSON.stringify(added.message.body);
    const entered = active.begin({ key, program: added.program, message, timeout: seconds });
    const { store } = this.#parts;
    const answered = store.runs.put(added.id, { ...added.run, answered: key });
    await store.commit([answered, ...plan.changes, ...entered.changes], () => {
      entered.undo();
      plan.undo();
    });
  }

  #hit(key: string, timeout: number): ReturnType<ActiveResponses['hit']> {
    const { active, policy, logger } = this.#parts;
    const hit = active.hit(key, timeout, policy.repeatedOffenders);
    if (hit.repeated) logger.debug(`Repeated offender. Setting timeout to '${String(hit.seconds)}s'`);
    return hit;
  }

  /** The run is through, together with what came of it. */
  async #through({ id }: AddedScript, changes: readonly Change[] = [], undo: () => void = () => {}): Promise<void> {
    const { store } = this.#parts;
    await store.commit([store.runs.remove(id), ...changes], undo);
  }
}

/** Name of a script as keys begin with it. */
function scriptName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}
