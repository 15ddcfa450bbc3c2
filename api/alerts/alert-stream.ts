import { pause } from '../../lib/async/pause.js';
import type { AgentsRequest } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { EventSink } from '../http/event-stream.js';
import { ProblemError } from '../http/problem-error.js';
import { alertLine } from './alert-item.js';
import { idBefore, packPlaces, placeBehind } from './alert-place.js';
import { type AlertScope, permittedAgents } from './alert-scope.js';
import type { NewAlerts } from './new-alerts.js';

/** Alerts that are read at a time: what a client has not taken of them is all that is held of a stream. */
const READ_AT_ONCE = 50;
/** svc-db may take so long for a read, milliseconds. */
const READ_MS = 10_000;
/** How often it is asked anew which of the agents that are named the caller may see, milliseconds: they move from group to group. */
const SCOPE_MS = 5000;
/** A stream looks at least so often, milliseconds, whatever it was told. */
const LOOK_MS = 15_000;
/** Pause while svc-db cannot be asked, milliseconds. */
const RETRY_MS = 1000;

export type AlertStreamParts = {
  readonly db: DbClient;
  readonly news: NewAlerts;
  readonly request: AgentsRequest;
  /** As the request began with it. */
  readonly scope: AlertScope;
  /** Name of this node in ids, in a cluster. */
  readonly node: string | undefined;
};

/**
 * Alerts as they are written, out of the store of svc-db: where one client is, is a place there, so that nothing is kept for it, and
 * nothing is left out, however slowly it reads and whichever daemon dies meanwhile.
 */
export class AlertStream {
  readonly #parts: AlertStreamParts;
  #scope: AlertScope;
  #scopedAt = performance.now();
  #after: string;
  #isWaiting = false;

  /** @param after place in the store from which on alerts are sent */
  constructor(parts: AlertStreamParts, after: string) {
    this.#parts = parts;
    this.#scope = parts.scope;
    this.#after = after;
  }

  /** Until the sink is over. */
  async run(sink: EventSink): Promise<void> {
    const { news } = this.#parts;
    while (!sink.signal.aborted) {
      const hasMore = await this.#sendNext(sink).catch((error: unknown) => this.#sayWhy(error, sink));
      if (hasMore === 'failed') await pause(RETRY_MS, sink.signal);
      else if (!hasMore) await news.next(LOOK_MS, sink.signal);
    }
  }

  /** @returns whether there may be more at once */
  async #sendNext(sink: EventSink): Promise<boolean> {
    const { db, request, node } = this.#parts;
    await this.#renewScope();
    const params = { ...this.#scope, after: this.#after, limit: READ_AT_ONCE, waitMs: 0 };
    const { alerts, cursor } = await db.call(request, 'alerts.follow', params, {
      deadlineMs: READ_MS,
      signal: sink.signal,
    });
    if (this.#isWaiting) await sink.send({ event: 'resumed', data: '{}' });
    this.#isWaiting = false;
    for (const alert of alerts) {
      const line = alertLine(alert, node);
      await sink.send({ id: eventId(placeBehind(alert.id), node) ?? alert.id, event: 'alert', data: line });
    }
    const before = this.#after;
    this.#after = cursor ?? before;
    const passed = eventId(this.#after, node);
    if (passed !== undefined) sink.position(passed);
    return this.#after !== before;
  }

  /** What is wrong is told once. @returns that it is to be tried again */
  async #sayWhy(error: unknown, sink: EventSink): Promise<'failed'> {
    if (sink.signal.aborted) return 'failed';
    if (!(error instanceof ApiError) && !(error instanceof ProblemError)) throw error;
    if (!this.#isWaiting) await sink.send({ event: 'waiting', data: JSON.stringify({ detail: error.message }) });
    this.#isWaiting = true;
    return 'failed';
  }

  async #renewScope(): Promise<void> {
    const { db, request, scope } = this.#parts;
    if (scope.agents === undefined || performance.now() - this.#scopedAt < SCOPE_MS) return;
    const { agents } = await permittedAgents(db, request, scope.among?.group);
    this.#scopedAt = performance.now();
    this.#scope = { ...scope, ...agents };
  }
}

/**
 * What a client that comes back says to go on at a place: the alert before it; in a cluster how far each node was read. Undefined where
 * there is no alert before it.
 */
export function eventId(place: string, node: string | undefined): string | undefined {
  return node === undefined ? idBefore(place) : (packPlaces({ [node]: place }) ?? undefined);
}
