import type { Delivery } from '../../../daemons/monitord/outputs/alert-receiver.js';
import { StreamedAlert } from '../../../lib/output/alert-feed.js';
import type { Change } from '../../../lib/store/commit-queue.js';

/** A batch as a consumer hands it over. */
export function batchOf(...alerts: readonly (Record<string, unknown> | string)[]): StreamedAlert[] {
  return alerts.map((alert, i) => {
    const text = typeof alert === 'string' ? alert : JSON.stringify(alert);
    return new StreamedAlert(text, { file: '2025/Jun/ossec-alerts-05.json', offset: i + 1 });
  });
}

/** Keeps what a receiver tells of a batch. */
export class RecordedDelivery implements Delivery {
  settled = 0;
  sentCount = 0;
  readonly changes: Change[] = [];
  readonly rejections: string[] = [];
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** As the consumer does at the deadline. */
  expire(): void {
    this.#controller.abort(new Error('nothing was taken in time'));
  }

  settle(count: number, changes: readonly Change[] = []): Promise<void> {
    this.settled = count;
    this.changes.push(...changes);
    return Promise.resolve();
  }

  sent(count: number): void {
    this.sentCount += count;
  }

  rejected(reason: string): void {
    this.rejections.push(reason);
  }
}

/** A filter that takes everything. */
export const ANY = { level: 0, ruleIds: [] } as const;
