import { TEXTS } from '../texts.js';
import type { List } from './api-client.js';
import type { Notices } from './notices.js';

/** Says which of many things could not be done, in the server's words; nothing when all could. */
export function tellFailed(notices: Notices, { failed_items: failed, total_failed_items: total }: List<unknown>): void {
  if (total === 0) return;
  const reasons = failed.map(({ error, id }) => `${error.message} (${id.join(', ')})`);
  notices.failed(`${TEXTS.common.failedItems(total)} ${reasons.join(' ')}`);
}
