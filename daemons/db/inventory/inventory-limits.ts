/** Rows of one table of an agent: an agent that makes rows up cannot fill the disk. A host has some thousands of packages. */
export const MAX_TABLE_ROWS = 200_000;

/** Lists that go over many rows at once, and those that may wait. */
export const LISTS_AT_ONCE = 2;
export const LISTS_WAITING = 32;

/** Changes that wait for a follower: some hundred megabytes. */
export const MAX_CHANGES = 5_000_000;
