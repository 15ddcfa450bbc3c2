import type { HandlerParams, HandlerResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import { MAX_PRESENCE_BYTES, MAX_PRESENCE_ROWS, type PresenceRow } from '../../../lib/bus/contracts/db-presence.js';
import type { AgentRow } from '../agent-record.js';
import type { Registry } from '../registry.js';
import type { Outgoing } from './outgoing.js';
import { presenceRow, presenceRowBytes } from './presence-row.js';

type PageParams = HandlerParams<typeof dbContract, 'agents.presence_page'>;

export type PageParts = {
  readonly registry: Registry;
  readonly outgoing: Outgoing;
  /** This node. */
  readonly node: string;
  /** What is known here of other nodes' batches. */
  readonly marks: () => readonly { readonly node: string; readonly incarnation: string; readonly number: number }[];
};

/** Looks at rows between which others have no turn: a scan of 100,000 takes some milliseconds. */
export function presencePage(
  parts: PageParts,
  params: PageParams,
): HandlerResult<typeof dbContract, 'agents.presence_page'> {
  const { registry, outgoing } = parts;
  const wanted = params.what === 'own' ? ownRows(parts, params) : knownRows(parts, params);
  const all = registry.agents.byId();
  const rows: PresenceRow[] = [];
  let bytes = 0;
  let next: number | null = null;
  for (let at = firstFrom(all, params.from); at < all.length; at += 1) {
    const row = all[at];
    if (row === undefined || !wanted(row)) continue;
    const told = presenceRow(row, registry.labels(row.id));
    if (told === undefined) continue;
    bytes += presenceRowBytes(told);
    if (rows.length === MAX_PRESENCE_ROWS || (bytes > MAX_PRESENCE_BYTES && rows.length > 0)) {
      next = row.id;
      break;
    }
    rows.push(told);
  }
  return { ...outgoing.mark, rows, next };
}

/** Those of this node, and others that it has told of. */
function ownRows({ node, outgoing }: PageParts, { since }: PageParams): (row: AgentRow) => boolean {
  const after = since?.incarnation === outgoing.incarnation ? since.number : undefined;
  if (after !== undefined) return (row) => row.toldAt > after;
  return (row) => row.record.nodeName === node || row.toldAt > 0;
}

function knownRows({ marks: known }: PageParts, { except, marks }: PageParams): (row: AgentRow) => boolean {
  const left = new Set(except);
  const here = new Map(known().map(({ node, incarnation }) => [node, incarnation]));
  const behind = new Map(
    marks.filter(({ node, incarnation }) => here.get(node) === incarnation).map(({ node, number }) => [node, number]),
  );
  return ({ record: { nodeName }, heardAt }) => {
    if (left.has(nodeName)) return false;
    const after = behind.get(nodeName);
    return after === undefined || heardAt > after;
  };
}

/** The place of the first row whose number is not below. */
function firstFrom(rows: readonly AgentRow[], id: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
