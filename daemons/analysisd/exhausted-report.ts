import type { Logger } from '../../lib/log/logger.js';

/** Owners named in one line of the report, and in statistics. */
const MAX_NAMED = 10;

/**
 * How often patterns ran out of their step budget, for statistics.
 * @param counts `rule <id>` or `decoder <name>` to how often, since the start
 * @returns all times together, and the owners with the most
 */
export function overBudget(counts: ReadonlyMap<string, number>): {
  readonly times: number;
  readonly worst: Readonly<Record<string, number>>;
} {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return {
    times: sorted.reduce((sum, [, times]) => sum + times, 0),
    worst: Object.fromEntries(sorted.slice(0, MAX_NAMED)),
  };
}

/** Says once a minute which rules and decoders had patterns that ran out of their step budget. */
export class ExhaustedReport {
  readonly #logger: Logger;
  #reported: ReadonlyMap<string, number> = new Map();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param counts `rule <id>` or `decoder <name>` to how often its patterns ran out, since the start */
  report(counts: ReadonlyMap<string, number>): void {
    const news = [...counts]
      .map(([owner, count]) => [owner, count - (this.#reported.get(owner) ?? 0)] as const)
      .filter(([, count]) => count > 0)
      .sort(([, a], [, b]) => b - a);
    this.#reported = new Map(counts);
    if (news.length === 0) return;
    const named = news.slice(0, MAX_NAMED).map(([owner, count]) => `${owner} (${String(count)} times)`);
    const more = news.length > MAX_NAMED ? ` and ${String(news.length - MAX_NAMED)} more` : '';
    this.#logger.warn(
      `Patterns exceeded their budget and counted as no match: ${named.join(', ')}${more}. Make them simpler: docs/guide/rules.md says how.`,
    );
  }
}
