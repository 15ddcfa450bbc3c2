import { MAX_KEY_BYTES } from '../../../lib/store/binary-table.js';

/** Bytes in front of the key of a row: the slot of its component. */
export const SLOT_BYTES = 4;

/** Bytes of the key of a row, a path for one: what a key of the store holds beside its slot. */
export const MAX_ROW_KEY_BYTES = MAX_KEY_BYTES - SLOT_BYTES;

/** Bytes of a stored row: the access list of a Windows file has some thousands. */
export const MAX_ROW_BYTES = 64 * 1024;

/** Changes after which a transaction is written: some tens of milliseconds. */
export const MAX_BATCH_CHANGES = 8192;

/** Rows read, or removed, in one turn of the event loop: about a millisecond. */
export const ROWS_PER_TURN = 512;

/** Milliseconds that events are applied for in one turn of the event loop: one that ends a dump of 4,096 checks takes three alone. */
export const TURN_MS = 4;
