import { isObject } from '../../lib/json/is-object.js';
import { alertName } from './alert-place.js';

/** An alert as svc-db gives it. */
type FoundAlert = { readonly id: string; readonly text: string };

/** An alert as clients get it: as in alerts.json, and in front of it its id in the store, `alert_id`. */
export function alertItem({ id, text }: FoundAlert, node: string | undefined): Readonly<Record<string, unknown>> {
  const alert: unknown = JSON.parse(text);
  return { alert_id: alertName(id, node), ...(isObject(alert) ? alert : {}) };
}

/** The same on one line, the bytes of the alert as they are. */
export function alertLine({ id, text }: FoundAlert, node: string | undefined): string {
  const members = text.trim().slice(1);
  return `{"alert_id":${JSON.stringify(alertName(id, node))}${members === '}' ? '' : ','}${members}`;
}
