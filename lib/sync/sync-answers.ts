import { AgentMessageError } from '../events/sync/agent-message-error.js';
import { readSyncAnswer } from '../events/sync/read-sync-answer.js';
import type { SyncAnswer } from '../events/sync/sync-step.js';
import { describeError } from '../log/describe-error.js';
import type { LimitedLogger, Logger } from '../log/logger.js';

/** Bytes of the ranges that wait: a manager gone wrong may name long paths that nobody has. */
const MOST_BYTES = 16 * 1024 * 1024;
const ANSWER = /^(\S+) dbsync (\S+) (.*)$/s;

/** Answers of the manager that wait, first come, first served. */
export class SyncAnswers {
  /** Taken, those for tables that are not here, those that are none, and those that found no room. */
  readonly counters = { answers: 0, ignored: 0, malformed: 0, dropped: 0 };
  readonly #component: string;
  readonly #malformedLog: LimitedLogger;
  readonly #droppedLog: LimitedLogger;
  #arrived: SyncAnswer[] = [];
  /** Those that arrived first, the last one first. */
  #ready: SyncAnswer[] = [];
  #bytes = 0;

  /** @param component of the table whose answers they are */
  constructor(component: string, logger: Logger) {
    this.#component = component;
    this.#malformedLog = logger.limited();
    this.#droppedLog = logger.limited();
  }

  get length(): number {
    return this.#arrived.length + this.#ready.length;
  }

  /**
   * Takes `<component> dbsync <verb> <json>` (integrity-and-inventory.md 4.4), a byte string.
   * @param most answers that may wait; one on top is dropped: the next round asks again
   * @returns whether it waits now
   */
  take(text: string, most: number): boolean {
    const [, component, verb = '', json = ''] = ANSWER.exec(text) ?? [];
    if (component !== undefined && component !== this.#component) {
      this.ignore();
      return false;
    }
    let answer: SyncAnswer;
    try {
      if (component === undefined) throw new AgentMessageError('malformed', 'It is no answer of the synchronisation');
      answer = readSyncAnswer(verb, json);
    } catch (error) {
      this.counters.malformed += 1;
      this.#malformedLog.warn(`An answer of the synchronisation cannot be read: ${describeError(error)}`);
      return false;
    }
    const bytes = answer.begin.length + answer.end.length;
    if (this.length >= most || (this.length > 0 && this.#bytes + bytes > MOST_BYTES)) {
      this.counters.dropped += 1;
      this.#droppedLog.warn('Too many answers of the synchronisation wait: some are dropped until the next round.');
      return false;
    }
    this.counters.answers += 1;
    this.#arrived.push(answer);
    this.#bytes += bytes;
    return true;
  }

  /** Counts one that nobody waits for. */
  ignore(): void {
    this.counters.ignored += 1;
  }

  /** The one that waits longest. */
  next(): SyncAnswer | undefined {
    if (this.#ready.length === 0) {
      this.#ready = this.#arrived.reverse();
      this.#arrived = [];
    }
    const answer = this.#ready.pop();
    if (answer !== undefined) this.#bytes -= answer.begin.length + answer.end.length;
    return answer;
  }

  clear(): void {
    this.#arrived = [];
    this.#ready = [];
    this.#bytes = 0;
  }
}
