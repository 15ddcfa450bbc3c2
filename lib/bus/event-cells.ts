import type { BusAgent, EventSource, Idempotency } from './bus-event.js';
import { MAX_HELLO_STREAMS } from './bus-limits.js';
import { isAgent, isIdempotency, isLocation, isQueue, isSequence, isStreamName } from './event-check.js';

/** How far a stream is. */
export type StreamPosition = { readonly stream: string; readonly position: number };

/** Reads positions of streams. @returns undefined for anything else */
export function readPositions(value: unknown): StreamPosition[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_HELLO_STREAMS) return undefined;
  const positions: StreamPosition[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item)) return undefined;
    const [stream, position] = item as unknown[];
    if (!isStreamName(stream) || !isSequence(position)) return undefined;
    positions.push({ stream, position });
  }
  return positions;
}

/** Reads where events came from: queue, location and agent. @returns undefined for what is no source */
export function readSource(item: unknown): EventSource | undefined {
  if (!Array.isArray(item)) return undefined;
  const [queue, location, cells] = item as unknown[];
  const agent = readAgent(cells);
  if (!isQueue(queue) || !isLocation(location) || agent === false) return undefined;
  return { queue, location, agent };
}

/** False for what is neither an agent nor nil. */
function readAgent(cells: unknown): BusAgent | undefined | false {
  if (cells === null) return undefined;
  if (!Array.isArray(cells)) return false;
  const [id, name, ip, pairs] = cells as unknown[];
  const labels = readLabels(pairs);
  if (labels === false) return false;
  const agent = { id, name, ip, labels } as BusAgent;
  return isAgent(agent) && agent;
}

function readLabels(pairs: unknown): Map<string, string> | undefined | false {
  if (pairs === null) return undefined;
  if (!Array.isArray(pairs) || pairs.length % 2 !== 0) return false;
  const labels = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) {
    const key: unknown = pairs[at];
    const text: unknown = pairs[at + 1];
    if (typeof key !== 'string' || typeof text !== 'string') return false;
    labels.set(key, text);
  }
  return labels;
}

/** Reads what ties an event to a request. @returns undefined for nil, false for anything else */
export function readIdempotency(cells: unknown): Idempotency | undefined | false {
  if (cells === null) return undefined;
  if (!Array.isArray(cells)) return false;
  const [key, index] = cells as unknown[];
  const idempotency = { key, index } as Idempotency;
  return isIdempotency(idempotency) && idempotency;
}
