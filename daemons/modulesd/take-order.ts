import { BusError } from '../../lib/bus/bus-error.js';

/** Beginning of the orders for a module, and the module: it takes the whole order, a byte string. */
export type OrderTaker = readonly [beginning: string, take: (text: string) => void];

/** Takes an order of the manager (integrity-and-inventory.md 1.2). @param text byte string @throws BusError `unrecognized` */
export function takeOrder(text: string, takers: readonly OrderTaker[]): void {
  const taker = takers.find(([beginning]) => text.startsWith(beginning));
  if (taker === undefined) throw new BusError('unrecognized', 'Unrecognized command');
  taker[1](text);
}
