import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { NatsSession } from '../nats/nats-link.js';
import type { AlertBatch } from './alert-messages.js';

/** Alerts of a node that no message has: bytes of one of its files in `logs/alerts`. */
export type LostAlerts = { readonly node: string; readonly file: string; readonly from: number; readonly to: number };

/** A message as it lies in the stream. */
export type StoredMessage = { readonly seq: number; readonly subject: string; readonly data: Uint8Array };
/** Undefined: it cannot be read. */
export type ReadMessage = (message: StoredMessage) => Promise<AlertBatch | undefined>;

/** So many messages of all nodes are looked back at most. */
const LOOK_BACK = 500;

export type Chain = { readonly found: readonly AlertBatch[]; readonly lost: readonly LostAlerts[] };
const UNBROKEN: Chain = { found: [], lost: [] };

/**
 * The messages of a node between the last alerts that an output had and those that have come: each says where the one before it ends.
 * Nothing where these begin no further on; nor where they are in another file and nothing leads from them to the place, since it
 * cannot be told then which of the two comes first.
 * @param place behind the last that the output had @param message with its alerts, the one that has come
 * @throws JetStreamApiError, TimeoutError
 */
export async function chainBetween(
  place: RecordPosition,
  { seq, subject, batch }: { readonly seq: number; readonly subject: string; readonly batch: AlertBatch },
  { session, stream, read }: { readonly session: NatsSession; readonly stream: string; readonly read: ReadMessage },
): Promise<Chain> {
  const { start, node } = batch;
  if (start === undefined || isBehind(place, start)) return UNBROKEN;
  const before: AlertBatch[] = [];
  for (let from = Math.max(1, seq - LOOK_BACK); ;) {
    const query = { seq: from, next_by_subj: subject };
    const stored = await session.jsm.streams.getMessage(stream, query);
    if (stored === null || stored.seq >= seq) break;
    const earlier = await read(stored);
    if (earlier?.instance === batch.instance && !isBehind(place, earlier.position)) before.push(earlier);
    from = stored.seq + 1;
  }
  return walkBack(place, start, node, before);
}

/** @param before oldest first */
function walkBack(place: RecordPosition, start: RecordPosition, node: string, before: readonly AlertBatch[]): Chain {
  const found: AlertBatch[] = [];
  const lost: LostAlerts[] = [];
  let edge: RecordPosition | undefined = start;
  for (const batch of before.toReversed()) {
    const { file, offset }: RecordPosition = batch.position;
    if (file !== edge.file || offset > edge.offset) continue;
    if (offset < edge.offset) lost.unshift({ node, file, from: offset, to: edge.offset });
    found.unshift(batch);
    edge = batch.start;
    if (edge === undefined || isBehind(place, edge)) break;
  }
  const reached = edge !== undefined && isBehind(place, edge);
  if (!reached && place.file !== start.file) return UNBROKEN;
  if (!reached && edge?.file === place.file) {
    lost.unshift({ node, file: place.file, from: place.offset, to: edge.offset });
  }
  return { found, lost };
}

/** Whether a place is at a position or behind it in the same file. */
function isBehind(place: RecordPosition, position: RecordPosition): boolean {
  return place.file === position.file && place.offset >= position.offset;
}
