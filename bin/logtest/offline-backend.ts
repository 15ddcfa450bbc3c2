import { MemoryDiffStore } from '../../lib/engine/correlate/diff-store.js';
import { Logtest } from '../../lib/logtest/logtest.js';
import type { LogtestReply } from '../../lib/logtest/logtest-request.js';
import { testOrigin } from '../../lib/ruleset/test-origin.js';
import { loadOfflineRuleset } from '../offline/offline-ruleset.js';
import type { LogtestBackend, LogtestEvent } from './logtest-backend.js';

export type OfflineBackendOptions = {
  /** Directories with `decoders/`, `rules/` and `lists/`. */
  readonly dirs: readonly string[];
  /** Level from which an alert is generated. */
  readonly logLevel: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Logtest on an engine of its own: the ruleset is loaded with the first event, as a session does. */
export class OfflineBackend implements LogtestBackend {
  readonly #logtest: Logtest;

  constructor({ dirs, logLevel, now }: OfflineBackendOptions) {
    this.#logtest = new Logtest({
      maxSessions: 1,
      sessionTimeoutSeconds: Infinity,
      origin: testOrigin(),
      now,
      diffs: new MemoryDiffStore(),
      ruleset: (diagnostics) => loadOfflineRuleset(dirs, diagnostics, logLevel),
      showPlaces: true,
    });
  }

  process({ log, ...event }: LogtestEvent): Promise<LogtestReply> {
    return Promise.resolve(this.#logtest.answer({ kind: 'process', event: log, warnings: [], ...event }));
  }

  remove(token: string): Promise<LogtestReply> {
    return Promise.resolve(this.#logtest.answer({ kind: 'remove', token }));
  }
}
