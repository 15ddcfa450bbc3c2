import { BusError } from '../../lib/bus/bus-error.js';
import { FIM_COMPONENT_NAMES } from '../../lib/events/fim/fim-component.js';

/** Orders to scan now (integrity-and-inventory.md 1.2). */
const SCAN_ORDERS: readonly string[] = ['syscheck restart', 'restart'];

/** Who carries orders out. */
export type OrderTakers = {
  readonly scan: () => void;
  readonly synchronise: (text: string) => void;
};

/** Takes an order of the manager. @param text byte string @throws BusError `unrecognized` */
export function takeOrder(text: string, { scan, synchronise }: OrderTakers): void {
  if (SCAN_ORDERS.includes(text)) return scan();
  const end = text.indexOf(' ');
  const component = end < 0 ? undefined : text.slice(0, end);
  if (!FIM_COMPONENT_NAMES.some((name) => name === component)) {
    throw new BusError('unrecognized', 'Unrecognized command');
  }
  synchronise(text);
}
