/** Limits of the syslog listeners, with the attack each one stops: who sends is known by the address alone. Times are milliseconds. */

/** Bytes of a message, header included: what the largest datagram over IPv4 has. Of a longer one over TCP the head is taken. */
export const MAX_SYSLOG_BYTES = 65_507;

/** Connections of all listeners, and of one address (IPv6: one /64): a sender needs one, a relay some. */
export const MAX_SYSLOG_CONNECTIONS = 1024;
export const MAX_CONNECTIONS_PER_ADDRESS = 64;

/** Who has sent something within this time does not make room for a new connection. */
export const BUSY_MS = 60_000;

/** How long a message in parts may take to arrive. What has come by then is taken, and the connection ended. */
export const UNFINISHED_TIMEOUT_MS = 60_000;

/** How long a connection may say nothing: a quiet device must not lose its next message, which is why it is so long. */
export const IDLE_TIMEOUT_MS = 24 * 3_600_000;

/** After this time the system asks whether the other end is still there. */
export const KEEP_ALIVE_MS = 30_000;

/** How often the times above are looked at. */
export const SYSLOG_SWEEP_MS = 1000;

/** Datagrams that wait for the bus, and their bytes: they cannot be held back. */
export const MAX_WAITING_DATAGRAMS = 65_536;
export const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Addresses whose permission is remembered: beyond, as with invented senders, all are looked up anew. */
export const MAX_REMEMBERED_SENDERS = 10_000;

/** At the stop what is on its way comes by then; senders need not notice that we end. */
export const QUIET_MS = 100;

/** How often the datagrams that the system has thrown away are counted. */
export const LOST_DATAGRAMS_MS = 10_000;
