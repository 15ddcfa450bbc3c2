/** Entries of one component of an agent: twenty times what agents send by default (`file_limit`). */
export const MAX_ROWS = 2_000_000;

/** Bytes of them: an agent with long access lists, or one that makes them up, must not fill the disk. */
export const MAX_ROWS_BYTES = 2 * 1024 * 1024 * 1024;

/** Findings of rootcheck kept for one agent. */
export const MAX_FINDINGS = 100_000;

/** Bytes of one finding. */
export const MAX_FINDING_BYTES = 64 * 1024;
