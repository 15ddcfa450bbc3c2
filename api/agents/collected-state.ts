import { isObject } from '../../lib/json/is-object.js';
import type { AgentAnswer } from '../daemons/agent-answer.js';

/** Pages of one state, of up to 64 KiB each: some 14,000 files. Stops an agent that always has more from filling memory. */
const MOST_PAGES = 64;
/** How often it is begun anew because the agent counted on between two pages. */
const MOST_ATTEMPTS = 3;

/**
 * Asks an agent for its state until it has told all of it: what is longer than a message comes in pages (daemons-and-config.md
 * 6.5). Lists of files of the pages are put together.
 * @returns undefined when the agent refused, or came to no end
 */
export async function collectedState(
  ask: (command: string) => Promise<AgentAnswer>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    let whole: Readonly<Record<string, unknown>> = {};
    let command = 'getstate';
    for (let pages = 1; pages <= MOST_PAGES; pages += 1) {
      const answer = await ask(command);
      if (!answer.ok) return undefined;
      if (pages > 1 && answer.page?.updated === true && attempt < MOST_ATTEMPTS) break;
      whole = pages === 1 ? answer.value : joined(whole, answer.value);
      if (answer.page?.remaining !== true) return whole;
      command = 'getstate next';
    }
  }
  return undefined;
}

/** The spans of both, with the files of both. */
function joined(
  whole: Readonly<Record<string, unknown>>,
  page: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...whole };
  for (const [name, span] of Object.entries(page)) {
    const before = result[name];
    if (isObject(before) && isObject(span) && Array.isArray(before['files']) && Array.isArray(span['files'])) {
      result[name] = { ...before, files: [...(before['files'] as unknown[]), ...(span['files'] as unknown[])] };
    }
  }
  return result;
}
