import type { ConnectionLimits } from '../../lib/network/connection-budget.js';

/** Limits of svc-remoted, with the attack each one stops. Times are milliseconds. */

/**
 * Connections at a time: a flood of them must end in refusals, not in an exhausted process. Unproven are those that have
 * not yet sent one message that could be opened; the oldest one makes room for a new one, so that whoever opens sockets
 * without a key cannot keep agents out. Of one address there may be 512: behind it there may be thousands of agents, but
 * each of them sends its first message with its connection, and does not count from then on.
 */
export const AGENT_CONNECTIONS: ConnectionLimits = { total: 131_072, unproven: 2048, unprovenPerAddress: 512 };

/** How long a connection may stay without such a message. Agents send one at once. */
export const UNPROVEN_TIMEOUT_MS = 60_000;

/** How long one frame may take to arrive: a peer that sends a byte now and then does not hold memory for ever. */
export const FRAME_TIMEOUT_MS = 60_000;

/** How often the two times above are looked at. */
export const SWEEP_MS = 1000;

/** Agents whose connection waits for the event window are told this often that the manager is alive (5.4 `time-reconnect`). */
export const HELD_ACK_MS = 10_000;

/** Bytes of events over UDP that wait for the event window, beside `queue_size`: datagrams cannot be held back. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

/**
 * Connections that begin to read at once after the event window was full: each may bring 64 KiB that have to wait again,
 * and ten thousand of them would fill the memory.
 */
export const MAX_READMITTED = 256;

/**
 * Half of the events that one connection may have on the bus without an acknowledgement: enough to keep the bus busy, and
 * few enough that an agent that floods neither fills the window of all nor has more than this lost when the process dies.
 */
export const READ_AHEAD_EVENTS = 512;

/** The same in bytes of their messages; the event that crosses it still goes along. */
export const READ_AHEAD_BYTES = 512 * 1024;

/** Receive buffer asked for on UDP sockets: a burst of datagrams while other work is done must fit into it. */
export const UDP_RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;

/** How often `etc/client.keys` is looked at: a new agent is known within a second. */
export const KEY_WATCH_MS = 400;

/** Agents of one call to svc-db, and characters of what they told: far below what a message of the bus may have. */
export const MAX_REPORTED_AGENTS = 1000;
export const MAX_REPORTED_CHARS = 2 * 1024 * 1024;

/** Labels of an agent that are kept: what the bus lets through for one event. */
export const MAX_LABELS = 1024;

/** How long a connection waits for the key of its agent in a cluster: several times what a key takes from node to node. */
export const LATE_KEY_MS = 1500;

/** Connections that wait for it, of all and of one address: made-up ids must not keep memory and sockets. */
export const MAX_LATE_CONNECTIONS = 512;
export const MAX_LATE_PER_ADDRESS = 64;

/** Bytes of their messages: the first one of an agent has some hundreds. */
export const MAX_LATE_BYTES = 4 * 1024 * 1024;

/** Log lines about what peers do: a burst, then so many a second. What is left out is counted. */
export const LOG_BURST_LINES = 100;
export const LOG_LINES_PER_SECOND = 10;

/**
 * A line about one agent or peer that comes again is written after this time at the earliest, then after twice as long
 * each time: one that tries every ten seconds to connect without a key must not fill the log.
 */
export const FIRST_REPEAT_MS = 60_000;

/** The longest of these times. */
export const LONGEST_REPEAT_MS = 3_600_000;

/** Lines remembered for it; an attacker who invents ids pushes out the oldest instead of filling the memory. */
export const MAX_REPEATED_LINES = 10_000;

/** Messages of the synchronisation that wait for svc-db; agents repeat what is dropped. */
export const MAX_SYNC_MESSAGES = 32_768;

/** The same in bytes. */
export const MAX_SYNC_BYTES = 64 * 1024 * 1024;

/** Of one agent: all states of a default `file_limit` would be a hundred thousand, but agents send some tens a second. */
export const MAX_SYNC_MESSAGES_PER_AGENT = 4096;

/** The same in bytes. */
export const MAX_SYNC_BYTES_PER_AGENT = 8 * 1024 * 1024;

/** Messages that go to svc-db in one call, of one agent or of many: it brings the states among them to the disk together. */
export const MAX_SYNC_CALL_MESSAGES = 256;

/** The same in bytes; the message that crosses it still goes along. */
export const MAX_SYNC_CALL_BYTES = 512 * 1024;

/**
 * Calls that svc-db has in hand about files, and as many about inventories: enough that one that has to read a large table
 * keeps no others waiting, and so few that what comes meanwhile goes along in the next.
 */
export const MAX_SYNC_CALLS = 8;

/** Of one agent: while one goes to the disk, the next is prepared. */
export const MAX_SYNC_CALLS_PER_AGENT = 2;

/**
 * Agents that are told to send their tables at once, at the least: with the default of ten messages a second each, what svc-db
 * takes in passing. More are, as long as it keeps up.
 */
export const FEWEST_SYNCHRONISING = 256;

/** Messages that wait for svc-db beyond which fewer agents are told to send, and below which more are. */
export const MANY_SYNC_MESSAGES = MAX_SYNC_MESSAGES / 4;
export const FEW_SYNC_MESSAGES = MAX_SYNC_MESSAGES / 16;

/** Orders of the synchronisation that wait for their turn: all thirteen tables of 30,000 agents. */
export const MAX_SYNC_ORDERS = 400_000;

/** Of one agent: one that makes checks up cannot take the room of others. */
export const MAX_SYNC_ORDERS_PER_AGENT = 64;

/** Agents whose reports of upgrades wait for svc-modulesd, one each; agents repeat what is dropped. */
export const MAX_UPGRADE_REPORTS = 10_000;
