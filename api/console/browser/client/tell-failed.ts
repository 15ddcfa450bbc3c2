import { TEXTS } from '../texts.js';
import type { List } from './api-client.js';
import type { Notices } from './notices.js';

/** Ids that are named with a reason; how many there are is said anyway. */
const MOST_NAMED = 20;

/** Says which of many things could not be done, in the server's words; nothing when all could. */
export function tellFailed(notices: Notices, { failed_items: failed, total_failed_items: total }: List<unknown>): void {
  if (total === 0) return;
  const reasons = failed.map(({ error, id }) => `${error.message} (${named(id)})`);
  notices.failed(`${TEXTS.common.failedItems(total)} ${reasons.join(' ')}`);
}

function named(ids: readonly (string | number)[]): string {
  return `${ids.slice(0, MOST_NAMED).join(', ')}${ids.length > MOST_NAMED ? ', …' : ''}`;
}
