import { BusError } from './bus-error.js';
import type { BusAgent, BusEvent, Idempotency } from './bus-event.js';
import { MAX_EVENT_BYTES, MAX_LOCATION_BYTES, MAX_STREAM_NAME_BYTES } from './bus-limits.js';

/** One char code 0..255 a byte. */
const BYTE_STRING = /^[\0-\xff]*$/;
const IDEMPOTENCY_KEY = /^[!-~]{1,128}$/;
const STREAM_NAME = new RegExp(`^[!-~]{1,${MAX_STREAM_NAME_BYTES}}$`);

/** 1 to 64 labels are usual; what an agent may set is bounded by the size of its configuration. */
const MAX_LABELS = 1024;

/** Whether a name can be that of a stream: visible ASCII, not too long. */
export function isStreamName(value: unknown): value is string {
  return typeof value === 'string' && STREAM_NAME.test(value);
}

/** Whether a number can be a sequence. */
export function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether a text can be the queue id of an event. */
export function isQueue(value: unknown): value is string {
  return typeof value === 'string' && value.length === 1 && value <= '\xff';
}

export function isLocation(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LOCATION_BYTES && BYTE_STRING.test(value);
}

export function isAgent(agent: BusAgent): boolean {
  const { labels } = agent;
  return (
    typeof agent.id === 'string' &&
    typeof agent.name === 'string' &&
    typeof agent.ip === 'string' &&
    (labels === undefined || (labels instanceof Map && labels.size <= MAX_LABELS))
  );
}

export function isIdempotency(value: Idempotency): boolean {
  return typeof value.key === 'string' && IDEMPOTENCY_KEY.test(value.key) && isSequence(value.index);
}

/**
 * Refuses what the sink would refuse, where it can still be put right.
 * @throws BusError `too_large` or `bad_event`
 */
export function checkEvent(event: BusEvent): void {
  if (event.message.length > MAX_EVENT_BYTES) {
    throw new BusError('too_large', `event has ${event.message.length} bytes, ${MAX_EVENT_BYTES} is the limit`);
  }
  if (!isQueue(event.queue)) throw new BusError('bad_event', 'queue of an event is one character');
  if (!isLocation(event.location)) {
    throw new BusError('bad_event', `location of an event is a byte string of at most ${MAX_LOCATION_BYTES} bytes`);
  }
  if (!Number.isFinite(event.receivedAt)) throw new BusError('bad_event', 'receive time of an event is a number');
  if (event.agent !== undefined && !isAgent(event.agent)) {
    throw new BusError('bad_event', 'agent of an event is invalid');
  }
  if (event.idempotency !== undefined && !isIdempotency(event.idempotency)) {
    throw new BusError('bad_event', 'idempotency key of an event is invalid');
  }
}
