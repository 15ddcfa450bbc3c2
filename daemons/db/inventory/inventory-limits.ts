/**
 * Rows of one table of an agent, and their bytes: an agent that makes rows up, or has long ones, cannot fill the disk. A host has some
 * thousands of packages, of some hundred bytes each.
 */
export const MAX_TABLE_ROWS = 200_000;
export const MAX_TABLE_BYTES = 128 * 1024 * 1024;

/** Lists that go over many rows at once, and those that may wait. */
export const LISTS_AT_ONCE = 2;
export const LISTS_WAITING = 32;

/** Changes that wait for a follower: some hundred megabytes. */
export const MAX_CHANGES = 5_000_000;
