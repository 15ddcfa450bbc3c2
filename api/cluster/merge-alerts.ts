import { placeBehind } from '../alerts/alert-place.js';

/** What one node has of a page: alerts in its order, and where it goes on behind them. */
export type NodeAlerts = {
  readonly node: string;
  readonly items: readonly unknown[];
  /** Time, epoch milliseconds, and place of each. */
  readonly keys: readonly (readonly [time: number, place: string])[];
  readonly next: string | null;
};

export type MergedAlerts = {
  readonly items: readonly unknown[];
  readonly next: Readonly<Record<string, string | null>>;
};

/**
 * One page of the alerts of several nodes, by time; those of one node stay in the order in which it has written them. The page ends where
 * a node has told all that it had, and has more: what comes behind them is not known yet.
 */
export function mergeAlerts(
  nodes: readonly NodeAlerts[],
  { limit, order }: { readonly limit: number; readonly order: 'desc' | 'asc' },
): MergedAlerts {
  const cursors = nodes.map((node) => ({ node, at: 0 }));
  const items: unknown[] = [];
  while (items.length < limit && !cursors.some(isOpen)) {
    const first = firstOf(cursors, order);
    if (first === undefined) break;
    items.push(first.node.items[first.at]);
    first.at += 1;
  }
  const next = cursors.map(({ node, at }) => {
    const left = node.keys[at]?.[1];
    // An order that goes back in time takes what is before a place, the other one what is from it on.
    return [node.node, left === undefined ? node.next : order === 'desc' ? placeBehind(left) : left] as const;
  });
  return { items, next: Object.fromEntries(next) };
}

type Cursor = { readonly node: NodeAlerts; at: number };

function isOpen({ node, at }: Cursor): boolean {
  return at >= node.keys.length && node.next !== null;
}

function firstOf(cursors: readonly Cursor[], order: 'desc' | 'asc'): Cursor | undefined {
  let first: Cursor | undefined;
  for (const cursor of cursors) {
    const time = cursor.node.keys[cursor.at]?.[0];
    if (time === undefined) continue;
    const best = first?.node.keys[first.at]?.[0];
    if (best === undefined || (order === 'desc' ? time > best : time < best)) first = cursor;
  }
  return first;
}
