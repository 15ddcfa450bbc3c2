import { FIRST_PLACE, parseAlertName, placeBehind, unpackPlaces } from '../alerts/alert-place.js';
import { scopedAlerts } from '../alerts/alert-scope.js';
import { AlertStream, eventId } from '../alerts/alert-stream.js';
import type { NewAlerts } from '../alerts/new-alerts.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { ProblemError } from '../http/problem-error.js';
import { StreamPlaces } from '../http/stream-places.js';
import type { NodeIdentity } from '../manager/manager-configuration.js';

/** Others are ids of the stream of a cluster. */
const ALERT_ID = /^\d{8}-/;
/** Seconds after which a client may try whether there is room for its stream. */
const RETRY_AFTER_SECONDS = '30';

export type AlertsStreamRouteParts = {
  readonly db: DbClient;
  readonly news: NewAlerts;
  /** This manager in the cluster. */
  readonly node: () => NodeIdentity;
};

/** Alerts of this node as they are written (rest-api.md 6.19). */
export function alertsStreamRoutes({ db, news, node }: AlertsStreamRouteParts): OperationHandlers {
  const places = new StreamPlaces();
  return {
    getAlertsStream: async (request) => {
      const { 'Last-Event-ID': last, pretty: _, wait_for_complete: _long, ...filters } = request.parameters;
      const { scope, failed } = await scopedAlerts(db, request, filters, {});
      const self = node().clusterEnabled ? node().name : undefined;
      const after = last === undefined ? 'end' : placeOf(last, self);
      // What is wrong with the request is said before the stream begins.
      const { cursor } = await db.call(request, 'alerts.follow', { ...scope, after: 'end', limit: 1, waitMs: 0 });
      request.signal.throwIfAborted();
      const place = places.take(request.caller.user.id);
      if (typeof place === 'string') {
        throw new ApiError(8004, { extra: place, headers: { 'retry-after': RETRY_AFTER_SECONDS } });
      }
      const start = after === 'end' ? (cursor ?? FIRST_PLACE) : after;
      const stream = new AlertStream({ db, news, request, scope, node: self }, start);
      return {
        kind: 'stream',
        run: async (sink) => {
          const denied = failed.map(({ id }) => id);
          const id = eventId(start, self);
          await sink.send({
            ...(id === undefined ? {} : { id }),
            event: 'begin',
            data: JSON.stringify({ agents_denied: denied }),
          });
          await stream.run(sink);
        },
        done: () => place.release(),
      };
    },
  };
}

/** Where this node is to be read on: behind an alert of it, or where the stream of a cluster was. @throws ProblemError 400 */
function placeOf(last: string, self: string | undefined): string {
  const isAlert = ALERT_ID.test(last);
  const { id, node } = parseAlertName(last);
  if (self === undefined && (!isAlert || node !== undefined)) {
    throw ProblemError.badRequest('Last-Event-ID is of a cluster, and this manager is in none');
  }
  if (!isAlert) return unpackPlaces(last)[self ?? ''] ?? 'end';
  return node !== undefined && node !== self ? 'end' : placeBehind(id);
}
