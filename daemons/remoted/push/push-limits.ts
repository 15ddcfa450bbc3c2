/** Limits of pushes to agents, with the reason of each one. Times are milliseconds. */

/** Messages sealed and handed to a connection in one go: some 30 KiB at most, so that acknowledgements find room between. */
export const MESSAGES_PER_BATCH = 32;

/**
 * An agent takes its manager for dead when it hears no control message for `time-reconnect`, and content is none. Answers
 * to its keepalives lie behind what the network holds of the file, so there is an acknowledgement in every 128 KiB at
 * most: a line of 3 KB/s is enough.
 */
export const BATCHES_PER_ACK = 4;

/** Time without a pause that pushes may hold the event loop: keepalives are acknowledged in between. */
export const MAX_TURN_MS = 3;

/** A push whose agent takes nothing for so long frees its place for others, and goes on when the agent reads again. */
export const PARK_MS = 1000;

/** Pushes without a place: each may have a batch in memory and a full buffer in the kernel. */
export const MAX_PARKED = 256;

/** An agent that takes nothing for so long has lost its push; it gets another one after its next keepalive. */
export const STALL_MS = 30_000;

/** How often the two times above are looked at. */
export const SWEEP_MS = 500;

/** A connection that is full of other messages is tried again after this time. */
export const ROOM_RETRY_MS = 200;

/** Control messages that wait for the end of a push to one agent. */
export const MAX_WAITING_ORDERS = 16;

/**
 * After a push, keepalives that the agent sent before it had read the file do not bring the same file again. Each time an
 * agent has got a file and does not report it, the time is doubled: an agent with a full disk is not sent it for ever.
 */
export const SETTLE_MS = 3000;
export const MAX_SETTLE_MS = 60_000;

/** Files that are kept ready for pushes, bytes of content; what is being pushed stays beside it. */
export const MAX_READY_BYTES = 32 * 1024 * 1024;

/** How often svc-db is asked whose groups have changed. */
export const MEMBERSHIPS_POLL_MS = 500;

/** Pause after a call to svc-db that failed. */
export const RETRY_MS = 1000;

/** Sums of merged files are told together when several change within this time. */
export const COLLECT_MS = 50;
