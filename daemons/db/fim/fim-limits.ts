import { MAX_KEY_BYTES } from '../../../lib/store/binary-table.js';

/** Bytes in front of the key of an entry: the slot of its component. */
export const SLOT_BYTES = 4;

/** Bytes of a path, or of the index of a registry entry: what a key of the store holds beside its slot. */
export const MAX_PATH_BYTES = MAX_KEY_BYTES - SLOT_BYTES;

/** Bytes of a stored entry: the access list of a Windows file has some thousands. */
export const MAX_ROW_BYTES = 64 * 1024;

/** Entries of one component of an agent: twenty times what agents send by default (`file_limit`). */
export const MAX_ROWS = 2_000_000;

/** Findings of rootcheck kept for one agent. */
export const MAX_FINDINGS = 100_000;

/** Bytes of one finding. */
export const MAX_FINDING_BYTES = 64 * 1024;

/** Changes after which a transaction is written: some tens of milliseconds. */
export const MAX_BATCH_CHANGES = 8192;

/** Entries read, or removed, in one turn of the event loop: about a millisecond. */
export const ROWS_PER_TURN = 512;

/** Events applied in one turn of the event loop: a few milliseconds. */
export const OPERATIONS_PER_TURN = 128;
