/** Limits of what files.yml lists and of its downloads, with what each one stops. Times are milliseconds. */

/** Bytes of files.yml: the parser works at one go, while agents wait. */
export const MAX_FILES_YML_BYTES = 1_048_576;

/** Groups, and files of one group. */
export const MAX_GROUPS = 2000;
export const MAX_FILES_PER_GROUP = 500;

/** Characters of an address; servers take no longer request lines either. */
export const MAX_ADDRESS_CHARS = 4096;

/** Bytes of a file's name, what file systems take. */
export const MAX_NAME_BYTES = 255;

/** Lines about wrong entries of one file that are logged; a file of another kind would fill the log. */
export const MAX_LOGGED_PROBLEMS = 50;

/** Seconds between two downloads of a group that names no time (agents-and-groups.md 8), and the most it may name. */
export const DEFAULT_POLL_S = 1800;
export const MAX_POLL_S = 2_147_483_647;

/** Downloads at a time, in all and from one server: a server that hangs holds up no more than its own share. */
export const MAX_DOWNLOADS = 32;
export const MAX_DOWNLOADS_PER_SERVER = 4;

/** Redirects that are followed before they count as a loop. */
export const MAX_REDIRECTS = 5;

/** How long a server may take until it is connected, name and TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** How long a server may be silent. */
export const IDLE_TIMEOUT_MS = 30_000;

/** Characters of a server's ETag or Last-Modified that are kept for the next request. */
export const MAX_VALIDATOR_CHARS = 1024;

/** Events about files.yml are collected this long: who writes it makes several. */
export const SETTLE_MS = 100;
