import { MAX_ALERT_SEARCH_MS } from '../../lib/bus/contracts/db-alerts.js';
import { ALERT_MESSAGES, histogramResult, notSearchableYet, pageResult, topResult } from '../alerts/alert-answers.js';
import { alertItem } from '../alerts/alert-item.js';
import { parseAlertName, placeOfCursor } from '../alerts/alert-place.js';
import { permittedAgents, scopedAlerts } from '../alerts/alert-scope.js';
import { alertTimes, intervalOf, spanOf } from '../alerts/alert-time.js';
import type { ApiSettings } from '../api-settings.js';
import type { DbClient } from '../daemons/db-client.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
import type { NodeIdentity } from '../manager/manager-configuration.js';

/** Part of the request's time that svc-db may take; the rest is for what stands around it. */
const OWN_SHARE = 0.5;

export type AlertsRouteParts = {
  readonly db: DbClient;
  /** This manager in the cluster. */
  readonly node: () => NodeIdentity;
  readonly settings: () => Pick<ApiSettings, 'requestTimeoutMs'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Alerts that are kept to be searched (rest-api.md 6.19): those of this node. */
export function alertsRoutes({ db, node, settings, now }: AlertsRouteParts): OperationHandlers {
  /** In a cluster ids name the node. */
  const named = (): string | undefined => (node().clusterEnabled ? node().name : undefined);
  const withinMs = ({ parameters }: { readonly parameters: { readonly wait_for_complete: boolean } }): number => {
    const limit = parameters.wait_for_complete ? 0 : settings().requestTimeoutMs;
    return limit === 0
      ? MAX_ALERT_SEARCH_MS
      : Math.max(1, Math.min(MAX_ALERT_SEARCH_MS, Math.floor(limit * OWN_SHARE)));
  };
  return {
    getAlerts: async (request) => {
      const { limit, order, cursor, select, count, from, to, ...filters } = request.parameters;
      const { scope, failed } = await scopedAlerts(db, request, filters, alertTimes({ from, to }, now()));
      const [{ alerts, cursor: next, total }, missing] = await Promise.all([
        db.call(request, 'alerts.search', {
          ...scope,
          ...{ limit, order, count, withinMs: withinMs(request) },
          ...(cursor === undefined ? {} : { cursor: placeOfCursor(cursor) }),
          ...(select === undefined ? {} : { select: [...select] }),
        }),
        notSearchableYet(db, request, node().name),
      ]);
      const isMerged = request.part.rows !== undefined;
      return pageResult({
        items: alerts.map((alert) => alertItem(alert, named())),
        total: total ?? { count: alerts.length, exact: next === null && cursor === undefined },
        next,
        failed: [...failed, ...missing],
        ...(isMerged ? { keys: alerts.map(({ time, id }) => [time, id] as const) } : {}),
      });
    },

    getAlertsAlertId: async (request) => {
      const { agents } = await permittedAgents(db, request);
      const { id } = parseAlertName(request.parameters.alert_id);
      const items = [alertItem(await db.call(request, 'alerts.get', { id, ...agents }), named())];
      return listResult({ items, total: 1, messages: ALERT_MESSAGES });
    },

    getAlertsHistogram: async (request) => {
      const { from, to, interval: length, by, series, ...filters } = request.parameters;
      const span = spanOf({ from, to }, now());
      const interval = intervalOf(length, span);
      const { scope, failed } = await scopedAlerts(db, request, filters, {});
      const [histogram, missing] = await Promise.all([
        db.call(request, 'alerts.histogram', {
          ...scope,
          ...span,
          ...{ interval, withinMs: withinMs(request) },
          ...(by === undefined ? {} : { by, series }),
        }),
        notSearchableYet(db, request, node().name),
      ]);
      return histogramResult({ ...histogram, ...span, failed: [...failed, ...missing] });
    },

    getAlertsTop: async (request) => {
      const { from, to, field, limit, ...filters } = request.parameters;
      const { scope, failed } = await scopedAlerts(db, request, filters, spanOf({ from, to }, now()));
      const [top, missing] = await Promise.all([
        db.call(request, 'alerts.top', { ...scope, field, limit, withinMs: withinMs(request) }),
        notSearchableYet(db, request, node().name),
      ]);
      return topResult({ ...top, failed: [...failed, ...missing] });
    },
  };
}
