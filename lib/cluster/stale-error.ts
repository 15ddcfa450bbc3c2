import { BusError } from '../bus/bus-error.js';

/** Code of the answer that what a change was decided on is not the last any more: it is decided anew. */
export const STALE = 'stale';
const REVISION = /^something of the same kinds was changed with revision (\d+)$/;

/** @param revision of the last change of those kinds */
export function staleError(revision: number): BusError {
  return new BusError(STALE, `something of the same kinds was changed with revision ${revision}`);
}

/** The revision that a `staleError` names, from which on it is worth while to decide anew; undefined when it names none. */
export function staleRevision({ message }: BusError): number | undefined {
  const digits = REVISION.exec(message)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
