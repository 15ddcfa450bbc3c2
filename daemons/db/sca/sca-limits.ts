/** Policies kept of one agent: a host has a handful, and an agent that makes them up must not fill the disk. */
export const MAX_POLICIES = 64;

/** Checks of one policy: the longest benchmarks have some seven hundred. */
export const MAX_CHECKS = 4096;

/** Bytes of the texts of one policy's checks, each check counted as if it were stored for this agent alone. */
export const MAX_CHECKS_BYTES = 8 * 1024 * 1024;

/** Bytes of a policy's id: it is part of a key. */
export const MAX_POLICY_ID_BYTES = 256;

/** Bytes of what is told of a policy, its description above all. */
export const MAX_POLICY_BYTES = 32 * 1024;

/** Bytes of a check's texts, and those of the reason why it did not apply. */
export const MAX_CHECK_BYTES = 64 * 1024;
export const MAX_REASON_BYTES = 4096;

/** Rules of a check (integrity-and-inventory.md 10.2), and its tags. `q` looks at each pair of the two. */
export const MAX_RULES = 255;
export const MAX_TAGS = 64;

/** Largest id of a check: what its key holds. */
export const MAX_CHECK_ID = 2 ** 48 - 1;

/**
 * How often a dump that ends without the right results is followed by the next request before the policy's next scan: an
 * agent whose results are never right would be asked for ever.
 */
export const MAX_REPEATED_DUMPS = 3;

/** Checks read, or removed, in one turn of the event loop: a few milliseconds. */
export const CHECKS_PER_TURN = 256;
