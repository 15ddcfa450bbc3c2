import type { StreamedAlert } from '../../../lib/output/alert-feed.js';
import type { AlertView } from '../../../lib/output/alert-view.js';
import type { AlertFilter } from './alert-filter.js';
import type { Delivery } from './alert-receiver.js';

/** An alert that an output wants. */
export type SelectedAlert = {
  readonly alert: AlertView;
  /** Its line of alerts.json. */
  readonly text: string;
  /** How many of the batch are dealt with once it is. */
  readonly count: number;
};

/** Those of a batch that a filter takes, in order. Lines that are no alerts are counted as rejected. */
export function selectAlerts(
  batch: readonly StreamedAlert[],
  filter: Pick<AlertFilter, 'takes'>,
  delivery: Delivery,
): SelectedAlert[] {
  return batch.flatMap(({ view, text }, i) => {
    if (view === undefined) {
      delivery.rejected('its line in alerts.json is damaged');
      return [];
    }
    return filter.takes(view) ? [{ alert: view, text, count: i + 1 }] : [];
  });
}
