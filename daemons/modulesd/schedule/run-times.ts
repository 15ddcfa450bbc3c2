import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

const storedTimes = z.record(z.string(), z.number().int().min(0));

/** When each module began its last run, so that a restart does not repeat it. A file that is lost costs a run. */
export class RunTimes {
  readonly #path: string;
  readonly #log: LimitedLogger;
  readonly #times: Map<string, number>;

  /** @param path in a directory that nobody else writes to */
  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#log = logger.limited();
    this.#times = new Map(Object.entries(this.#read()));
  }

  /** Epoch milliseconds; undefined for one that has not run. */
  last(name: string): number | undefined {
    return this.#times.get(name);
  }

  keep(name: string, time: number): void {
    this.#times.set(name, time);
    try {
      writeFileAtomically(this.#path, JSON.stringify(Object.fromEntries(this.#times)), { mode: 0o640 });
    } catch (error) {
      this.#log.warn(`When modules ran last cannot be kept: ${describeError(error)}`);
    }
  }

  /** Forgets modules of a kind that are not configured any more. @param kind what their names begin with */
  forgetOthers(kind: string, names: ReadonlySet<string>): void {
    for (const name of this.#times.keys()) if (name.startsWith(kind) && !names.has(name)) this.#times.delete(name);
  }

  #read(): Record<string, number> {
    try {
      const text = ifPresentSync(() => readFileSync(this.#path, 'utf8'));
      return text === undefined ? {} : storedTimes.parse(JSON.parse(text));
    } catch (error) {
      this.#log.warn(`When modules ran last is not known: ${describeError(error)}`);
      return {};
    }
  }
}
