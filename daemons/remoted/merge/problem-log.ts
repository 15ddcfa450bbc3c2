import type { Logger } from '../../../lib/log/logger.js';
import { MAX_LOGGED_PROBLEMS } from './shared-limits.js';
import type { SharedProblem } from './shared-problem.js';

/** Says what is wrong with the files of a group once, and once more when it changes. */
export class ProblemLog {
  #known = new Map<string, SharedProblem>();

  /** @param subject what the problems belong to, for the line about those left out */
  constructor(
    private readonly logger: Logger,
    private readonly subject: string,
  ) {}

  /** @param problems all there are now @param isThere whether a file that had one still exists */
  report(problems: readonly SharedProblem[], isThere: (path: string) => boolean): void {
    const now = new Map(
      problems.map((problem) => [`${problem.path}\n${problem.text}\n${problem.stamp ?? ''}`, problem]),
    );
    const bad = new Set(problems.map(({ path }) => path));
    const fresh = [...now].filter(([key]) => !this.#known.has(key)).map(([, problem]) => problem);
    const gone = [...this.#known.values()].filter(({ path }) => !bad.has(path) && isThere(path));
    this.#known = now;
    for (const { level, text } of fresh.slice(0, MAX_LOGGED_PROBLEMS)) this.logger[level](text);
    if (fresh.length > MAX_LOGGED_PROBLEMS) {
      this.logger.error(
        `${String(fresh.length - MAX_LOGGED_PROBLEMS)} more problems with files of ${this.subject} are not listed.`,
      );
    }
    const mended = gone.map((problem) => problem.mended).filter((text) => text !== undefined);
    for (const text of mended.slice(0, MAX_LOGGED_PROBLEMS)) this.logger.info(text);
  }
}
