/** Largest package that is sent. Those of agents have some 10 to 30 MB. */
export const MAX_PACKAGE_BYTES = 512 * 1024 * 1024;

/**
 * Agents that packages are sent to at once, whatever `max_threads` says: svc-remoted carries out twice as many calls, and
 * others have requests to agents, too.
 */
export const MAX_UPGRADES_AT_ONCE = 32;

/** Bytes of one `write` of agents that take JSON: in base64 it fits with its frame into a message of the channel. */
export const MAX_JSON_CHUNK_BYTES = 45_000;

/** How often it is begun to send one package to one agent: a connection that broke off, and restarts of this daemon. */
export const MAX_ATTEMPTS = 5;

/** Before it is begun again, milliseconds, times the attempts made. */
export const RETRY_PAUSE_MS = 10_000;

/** How often an agent is asked to open the file, which it refuses while another one is open; and the pause between. */
export const OPEN_ATTEMPTS = 10;
export const OPEN_PAUSE_MS = 500;

/** Longest wait for one answer of an agent, milliseconds: it runs the installer before it answers the last one. */
export const ANSWER_MS = 120_000;
/** svc-remoted ends the wait first. */
export const CALL_MS = ANSWER_MS + 5000;

/** Characters of what an agent says that are shown. */
export const MAX_AGENT_TEXT = 256;
