import type { StreamedAlert } from '../../../../lib/output/alert-feed.js';
import type { Change } from '../../../../lib/store/commit-queue.js';
import type { AlertFilter } from '../alert-filter.js';
import type { AlertReceiver, Delivery } from '../alert-receiver.js';
import { selectAlerts } from '../select-alerts.js';
import { type MailQueue, type MailRoute, MOST_WAITING } from './mail-queue.js';

/** Recipients, and which of the alerts that ask for mail are theirs. */
export type FilteredRoute = { readonly route: MailRoute; readonly filter: Pick<AlertFilter, 'takes'> };

const DEADLINE_MS = 60_000;

/**
 * Alerts that ask for mail, for those who get them (daemons-and-config.md 8.3). They are kept together with the position, so
 * each is mailed once; the queue sends them.
 */
export class MailReceiver implements AlertReceiver {
  readonly deadlineMs = DEADLINE_MS;
  readonly #queue: MailQueue;
  readonly #routes: readonly FilteredRoute[];

  constructor(queue: MailQueue, routes: readonly FilteredRoute[]) {
    this.#queue = queue;
    this.#routes = routes;
  }

  async deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    const changes: Change[] = [];
    const taken: (() => void)[] = [];
    for (const { alert, text } of selectAlerts(batch, { takes: ({ mail }) => mail }, delivery)) {
      const routes = this.#routes.filter(({ filter }) => filter.takes(alert)).map(({ route }) => route);
      if (routes.length === 0) continue;
      const entry = this.#queue.take(text, routes);
      changes.push(...entry.changes);
      taken.push(entry.taken);
    }
    if (changes.length === 0) return;
    if (this.#queue.isFull) throw new Error(`${String(MOST_WAITING)} alerts wait for a mail already`);
    await delivery.settle(batch.length, changes);
    for (const remember of taken) remember();
  }

  stats(): Readonly<Record<string, unknown>> {
    return this.#queue.stats();
  }

  async close(): Promise<void> {
    await this.#queue.stop();
  }
}
