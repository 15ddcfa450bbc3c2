/** Limits of shared files, with the reason of each one. Times are milliseconds. */

/** Largest file of a group that is shared: agents hold what they are sent in memory. */
export const MAX_SHARED_FILE_BYTES = 32 * 1024 * 1024;

/** Largest ar.conf: it is in the merged file of every group. */
export const MAX_AR_CONF_BYTES = 1024 * 1024;

/** Largest merged file; an agent takes 64 MiB. */
export const MAX_MERGED_BYTES = 48 * 1024 * 1024;

/** Files and folders of one group; readers of a merged file stop at 65,536 files. */
export const MAX_GROUP_ENTRIES = 65_000;

/** Longest path of a shared file, characters from `etc/shared/` on (agents-and-groups.md 6.4). */
export const MAX_SHARED_PATH_CHARS = 200;

/** Folders that are watched; with more, changes are found by the periodic check alone. The system's limit may be lower. */
export const MAX_WATCHED_FOLDERS = 4096;

/** Merged files that are kept in memory for pushes, bytes; what is being sent stays beside it as long as it is sent. */
export const MAX_CACHED_BYTES = 64 * 1024 * 1024;

/** Lines about the files of one group that one look writes to the log; the others are counted. */
export const MAX_LOGGED_PROBLEMS = 20;

/**
 * A file is left alone until it did not change for so long: one that is written in pieces is taken whole, and one that
 * changes twice within the file system's clock tick is not taken for unchanged.
 */
export const SETTLE_MS = 100;

/** A file that never rests is taken nevertheless after this time, and looked at again. */
export const MAX_UNSETTLED_MS = 500;

/** The table of groups is compared with the folders so often, whatever was seen (`wazuh_database.interval`). */
export const TABLE_CHECK_MS = 60_000;

/** Time without a pause that a look may hold the event loop: keepalives are answered in between. */
export const MAX_TURN_MS = 4;

/** Longest an agent.conf may be looked at: one of 4 MiB takes about a second, one of nothing but patterns a few. */
export const MAX_CONF_CHECK_MS = 30_000;

/** Bytes read or hashed without a pause. */
export const CHUNK_BYTES = 1024 * 1024;

/** A check is followed by a rest of this many times as long, so that many groups do not take a whole core. */
export const REST_FACTOR = 3;

/** Longest rest that a long check brings. */
export const MAX_REST_MS = 30_000;

/** Age at which a temporary file of a merged file was left behind by a process that died. */
export const LEFT_BEHIND_MS = 60_000;
