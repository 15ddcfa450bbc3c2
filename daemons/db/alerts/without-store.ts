import { BusError } from '../../../lib/bus/bus-error.js';
import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { alertMethods } from '../../../lib/bus/contracts/db-alerts.js';

/** Answers to all methods about alerts (lib/bus/contracts/db-alerts.ts). */
export type AlertHandlers = Pick<Handlers<typeof dbContract>, keyof typeof alertMethods>;

/** Answers while the store is off: there is nothing to search. */
export function withoutStore(): AlertHandlers {
  const refuse = (): never => {
    throw new BusError('disabled', 'The store of alerts is off: <alert_store><enabled> is no');
  };
  return {
    'alerts.search': refuse,
    'alerts.get': refuse,
    'alerts.histogram': refuse,
    'alerts.top': refuse,
    'alerts.follow': refuse,
    'alerts.stats': () => ({ ...NOTHING, enabled: false }),
  };
}

const NOTHING = { alerts: 0, oldest: null, newest: null, segments: 0, bytes: 0, behind: 0, rejected: 0, rebuilding: 0 };
