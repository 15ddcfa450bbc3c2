import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { NatsSession } from '../nats/nats-link.js';
import type { AlertBatch } from './alert-messages.js';

/** Alerts of a node that no message has: bytes of one of its files in `logs/alerts`. */
export type LostAlerts = { readonly node: string; readonly file: string; readonly from: number; readonly to: number };

/** A message as it lies in the stream. */
export type StoredMessage = { readonly seq: number; readonly subject: string; readonly data: Uint8Array };
/** Undefined: it cannot be read. */
export type ReadMessage = (message: StoredMessage) => Promise<AlertBatch | undefined>;

/** How a chain is looked for, and whether the time for that is over. */
type ChainParts = {
  readonly session: NatsSession;
  readonly stream: string;
  readonly read: ReadMessage;
  readonly isOver: () => boolean;
};

/** So many messages of all nodes are looked back at most. */
const LOOK_BACK = 500;

/** A message that lies between: where it is in the stream, and which alerts it has. */
export type Between = { readonly seq: number } & Pick<AlertBatch, 'start' | 'position'>;
export type Chain = { readonly found: readonly Between[]; readonly lost: readonly LostAlerts[] };
const UNBROKEN: Chain = { found: [], lost: [] };

/** What a walk over the messages of a node has seen, oldest first, and from where it goes on. */
export type Walk = { from: number; readonly seen: (Between & Pick<AlertBatch, 'instance'>)[] };

/**
 * The messages of a node between the last alerts that an output had and those that have come: each says where the one before it ends.
 * Nothing where these begin no further on; nor where they are in another file and nothing leads from them to the place, since it
 * cannot be told then which of the two comes first.
 * @param place behind the last that the output had @param message with its alerts, the one that has come
 * @param walk that goes on; undefined: one that begins
 * @returns a walk, which is to go on, where the time is over before all is seen @throws JetStreamApiError, TimeoutError
 */
export async function chainBetween(
  place: RecordPosition,
  { seq, subject, batch }: { readonly seq: number; readonly subject: string; readonly batch: AlertBatch },
  { session, stream, read, isOver }: ChainParts,
  walk: Walk = { from: Math.max(1, seq - LOOK_BACK), seen: [] },
): Promise<Chain | Walk> {
  const { start, node } = batch;
  if (start === undefined || isBehind(place, start)) return UNBROKEN;
  for (;;) {
    const query = { seq: walk.from, next_by_subj: subject };
    const stored = await session.jsm.streams.getMessage(stream, query);
    if (stored === null || stored.seq >= seq) break;
    const earlier = await read(stored);
    if (earlier !== undefined) {
      const { instance, position } = earlier;
      walk.seen.push({ seq: stored.seq, instance, start: earlier.start, position });
    }
    walk.from = stored.seq + 1;
    // At least one is looked at each time, so that it comes to an end.
    if (isOver()) return walk;
  }
  const before = walk.seen.filter(
    ({ instance, position }) => instance === batch.instance && !isBehind(place, position),
  );
  return walkBack(place, start, node, before);
}

/** @param before oldest first */
function walkBack(place: RecordPosition, start: RecordPosition, node: string, before: readonly Between[]): Chain {
  const found: Between[] = [];
  const lost: LostAlerts[] = [];
  let edge: RecordPosition | undefined = start;
  let reached = false;
  for (const batch of before.toReversed()) {
    const { file, offset }: RecordPosition = batch.position;
    if (file !== edge.file || offset > edge.offset) continue;
    if (offset < edge.offset) lost.unshift({ node, file, from: offset, to: edge.offset });
    found.unshift(batch);
    edge = batch.start;
    // One that leads into the file of the place out of another has all that lies before it there.
    reached = edge !== undefined && (isBehind(place, edge) || (file === place.file && edge.file !== file));
    if (reached || edge === undefined) break;
  }
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
