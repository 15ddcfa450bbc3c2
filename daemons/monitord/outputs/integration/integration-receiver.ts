import { describeError } from '../../../../lib/log/describe-error.js';
import type { StreamedAlert } from '../../../../lib/output/alert-feed.js';
import type { AlertFilter } from '../alert-filter.js';
import type { AlertReceiver, Delivery } from '../alert-receiver.js';
import { selectAlerts, type SelectedAlert } from '../select-alerts.js';
import type { IntegrationSender } from './integration-sender.js';
import { RefusedError } from './post-json.js';

/** So often an alert fails before the one behind it is tried. */
const TRIES = 8;

/**
 * Alerts to an integration, one after the other (daemons-and-config.md 8.2). An alert that fails again and again may be one that
 * nobody takes, or the receiver is away: when the next one is taken it was the alert, which is passed over; else both wait.
 */
export class IntegrationReceiver implements AlertReceiver {
  readonly deadlineMs: number;
  readonly #sender: IntegrationSender;
  readonly #filter: AlertFilter;
  /** How often the first alert that waits has failed. */
  #tries = 0;

  constructor(sender: IntegrationSender, filter: AlertFilter) {
    this.#sender = sender;
    this.#filter = filter;
    // An alert and the one behind it, at worst.
    this.deadlineMs = 2 * sender.deadlineMs;
  }

  async deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    const selected = selectAlerts(batch, this.#filter, delivery);
    for (let i = 0; i < selected.length; i += 1) {
      const alert = selected[i] as SelectedAlert;
      // What the filter leaves out before it is dealt with.
      if (alert.count > 1) await delivery.settle(alert.count - 1);
      const failure = await this.#try(alert, delivery.signal);
      if (failure === undefined) {
        await this.#taken(alert, delivery);
        continue;
      }
      const next = selected[i + 1];
      if (this.#tries < TRIES || next === undefined) throw failure.error;
      if ((await this.#try(next, delivery.signal)) !== undefined) throw failure.error;
      delivery.rejected(describeError(failure.error));
      await this.#taken(next, delivery);
      i += 1;
    }
  }

  async #taken({ count }: SelectedAlert, delivery: Delivery): Promise<void> {
    this.#tries = 0;
    delivery.sent(1);
    await delivery.settle(count);
  }

  /** @returns why it was not taken. @throws the signal's reason */
  async #try(alert: SelectedAlert, signal: AbortSignal): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#sender.send(alert, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      this.#tries = error instanceof RefusedError ? TRIES : this.#tries + 1;
      return { error };
    }
  }
}
