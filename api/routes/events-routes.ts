import { createHash } from 'node:crypto';
import { BusError } from '../../lib/bus/bus-error.js';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { SendLimits } from '../../lib/bus/event-producer.js';
import { SilenceWatch } from '../../lib/bus/silence-watch.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import type { Home } from '../../lib/home/home.js';
import { busyProblem, notReady } from '../daemons/daemon-failure.js';
import { isPresent } from '../daemons/daemon-presence.js';
import { AnswerMemory, IdempotencyConflictError } from '../http/answer-memory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type FailedItem, listResult, type WholeResult } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';

/** Events in one request (product.md 8). */
const MAX_EVENTS = 100;
/** UTF-8 bytes of an event: with its queue and location it fits the 65535 of the queue (rest-api.md 6.8). */
const MAX_EVENT_BYTES = 65_520;
const LOCATION = 'API-Webhook';
/**
 * How long the client waits: until its events are on their way to svc-analysisd, which may just be coming up, and until
 * they are acknowledged. The request time limit is usually shorter than the second.
 */
const LIMITS: SendLimits = { startMs: 1_500, deadlineMs: 9_000 };
/** Seconds after which a client may try again: a disk is not emptied, nor a daemon started, in one. */
const RETRY_AFTER = { 'retry-after': '5' };

/** The way events go: `EventProducer` of lib/bus. */
export interface ApiEventOutlet {
  readonly connected: boolean;
  readonly refusal: string | undefined;
  sendAll(events: readonly BusEvent[], limits?: SendLimits): Promise<void>;
}

export type EventsRouteParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly outlet: ApiEventOutlet;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

/** Ingestion of events (rest-api.md 6.8): 200 means that they are stored and survive a crash. */
export function eventsRoutes(parts: EventsRouteParts): OperationHandlers {
  const memory = new AnswerMemory(parts.monotonic);
  return {
    postEvents: async (request) => {
      const { events } = request.body;
      if (events.length > MAX_EVENTS) {
        const detail = 'The size of the events bulk is exceeding the limit';
        throw new ProblemError(400, { title: 'Events bulk size exceeded', detail });
      }
      const clientKey = request.parameters['Idempotency-Key'];
      if (clientKey === undefined) return ingest(parts, request, events, undefined);
      // The sink drops repeated events too, over crashes of either side; keys of two users never meet.
      const key = createHash('sha256').update(`${request.caller.user.id}\n${clientKey}`).digest('base64url');
      try {
        return await memory.answer(key, events, () => ingest(parts, request, events, key));
      } catch (error) {
        if (error instanceof IdempotencyConflictError) throw ProblemError.badRequest(error.message);
        throw error;
      }
    },
  };
}

async function ingest(
  parts: EventsRouteParts,
  request: ApiRequest,
  texts: readonly string[],
  key: string | undefined,
): Promise<WholeResult> {
  const failed: FailedItem[] = [];
  const events: BusEvent[] = [];
  for (const [index, text] of texts.entries()) {
    const message = Buffer.from(text, 'utf8');
    if (message.length > MAX_EVENT_BYTES) {
      const extra = 'The event is too large to be sent to analysisd (maximum is 65535B)';
      failed.push({ id: text, error: new ApiError(1012, { extra }) });
      continue;
    }
    const event = { queue: QUEUE_IDS.log, location: LOCATION, message, receivedAt: parts.now() };
    events.push(key === undefined ? event : { ...event, idempotency: { key, index } });
  }
  if (events.length > 0) await send(parts, request, events);
  return listResult({
    items: [],
    total: events.length,
    failed,
    messages: {
      all: 'All events were forwarded to analisysd',
      some: 'Some events were forwarded to analisysd',
      none: 'No events were forwarded to analisysd',
    },
  });
}

/** @throws ApiError 1017 with 503 when svc-analysisd does not run, ProblemError 503 when it takes nothing for the moment */
async function send(parts: EventsRouteParts, request: ApiRequest, events: readonly BusEvent[]): Promise<void> {
  const node = request.nodeName(parts.node());
  if (!parts.outlet.connected && parts.outlet.refusal === undefined) {
    // Not connected to a daemon that runs: it has just come up, and the connection is on its way.
    const status = (await readDaemonStatus(parts.home, ['svc-analysisd'])).get('svc-analysisd');
    if (status?.state !== 'running') throw await noSink(parts.home, node);
  }
  try {
    await unlessStuck(parts.home, parts.outlet.sendAll(events, LIMITS));
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    switch (error.code) {
      case 'busy':
        throw busyProblem('svc-analysisd');
      case 'refused':
        throw unavailable(
          'svc-analysisd takes no events for the moment. None of these will be analysed; send them again.',
        );
      case 'unconfirmed':
        throw unavailable('svc-analysisd takes no events for the moment. Some of these may still be analysed.');
      case 'timeout':
        throw unavailable('The events were not confirmed in time; they may still be analysed.');
      default:
        throw await noSink(parts.home, node);
    }
  }
}

/** Waits for a confirmation as long as svc-analysisd does anything. @throws BusError `timeout` when it does not */
async function unlessStuck(home: Home, confirmation: Promise<void>): Promise<void> {
  const began = performance.now();
  let isConfirmed = false;
  const stuck = new Promise<never>((_resolve, reject) => {
    const message = 'svc-analysisd does not answer';
    const watch = new SilenceWatch({
      oldest: () => (isConfirmed ? undefined : began),
      isThere: () => isPresent(home, 'svc-analysisd'),
      onGone: () => reject(new BusError('timeout', message)),
    });
    watch.begin();
  });
  // It may fail when nobody waits for it any more.
  confirmation.catch(() => {});
  try {
    await Promise.race([confirmation, stuck]);
  } finally {
    isConfirmed = true;
  }
}

/** Not refused, only not confirmed: a client with an Idempotency-Key can repeat the request safely in any case. */
function unavailable(detail: string): ProblemError {
  return new ProblemError(503, { title: 'Service Unavailable', detail }, RETRY_AFTER);
}

/** 503 and not the usual 500 of 1017: senders of events know it as "try again later". */
function noSink(home: Home, node: string): Promise<ApiError> {
  return notReady(home, node, 'svc-analysisd', { status: 503, headers: RETRY_AFTER });
}
