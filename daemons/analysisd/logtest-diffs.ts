import type { DiffStore } from '../../lib/engine/correlate/diff-store.js';
import type { StoredLog } from './pipeline/journal-record.js';

/** Logs that wait for the engine, at most; the oldest go first. Sessions of logtest are for people, not for load. */
const MAX_WAITING = 1000;

/**
 * The logs of `check_diff` as sessions of logtest see them: shared with the running engine (rules-and-alerts.md 9.6). What
 * a session stores reaches the engine by a record of the journal, at a place that a replay finds again; sessions see it
 * at once.
 */
export class LogtestDiffs implements DiffStore {
  readonly #live: DiffStore;
  readonly #journal: (stored: StoredLog) => Promise<void>;
  /** What the engine has not come to yet. */
  readonly #waiting = new Map<string, string>();

  /**
   * @param live store of the running engine
   * @param journal appends the record; what it rejects is forgotten
   */
  constructor(live: DiffStore, journal: (stored: StoredLog) => Promise<void>) {
    this.#live = live;
    this.#journal = journal;
  }

  last(hostname: string, ruleId: number): string | undefined {
    return this.#waiting.get(keyOf(hostname, ruleId)) ?? this.#live.last(hostname, ruleId);
  }

  store(hostname: string, ruleId: number, log: string): void {
    const key = keyOf(hostname, ruleId);
    this.#waiting.delete(key);
    this.#waiting.set(key, log);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_WAITING) break;
      this.#waiting.delete(oldest);
    }
    void this.#journal({ host: hostname, rule: ruleId, log }).catch(() => {
      // It would hide what the engine stores from now on.
      if (this.#waiting.get(key) === log) this.#waiting.delete(key);
    });
  }

  /** The engine has come to a record: from now on its store tells. */
  reached({ host, rule, log }: StoredLog): void {
    const key = keyOf(host, rule);
    if (this.#waiting.get(key) === log) this.#waiting.delete(key);
  }
}

function keyOf(hostname: string, ruleId: number): string {
  return `${String(ruleId)} ${hostname}`;
}
