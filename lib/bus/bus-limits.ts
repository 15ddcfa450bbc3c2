/** Limits of the bus. Sockets are 0660, so peers are of the service group: the limits stop a broken peer, and what it relays. */

/** A socket path has 108 bytes with its NUL (Linux `sun_path`). */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Requests and answers, encoded. Stops a peer from filling memory with one message; a page of 10,000 agents fits. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * What the socket itself lets through: twice the limit, so that a message a little too large is answered with
 * `too_large`. Of anything larger libzmq drops the connection before it is in memory.
 */
export const SOCKET_MESSAGE_BYTES = 2 * MAX_MESSAGE_BYTES;

/** Nesting of a message: stops recursion from exhausting the stack. */
export const MAX_DEPTH = 64;

/** Values in one message: stops frames that are small on the wire and large in memory (a slot takes 8 to 100 bytes). */
export const MAX_VALUES = 2_000_000;

/** Deadline of a call that names none. */
export const DEFAULT_DEADLINE_MS = 10_000;

/** Time to reach a daemon, shake hands included; well below the 2 s after which a caller must know that it is down. */
export const CONNECT_TIMEOUT_MS = 1200;

/** Calls of one client that are on the wire at once; further ones wait their turn in the client. */
export const MAX_CALLS_IN_FLIGHT = 256;

/** Calls of one client that wait to be put on the wire: stops a daemon that hangs from piling up memory in its callers. */
export const MAX_CALLS_QUEUED = 4096;

/** Calls a server carries out at once. Handlers that wait for a disk or a child process overlap up to here. */
export const MAX_CALLS_RUNNING = 64;

/** Calls a server keeps waiting for a place; what comes on top is answered `busy`. */
export const MAX_CALLS_WAITING = 2048;

/**
 * Messages libzmq queues for one peer that does not read. More than a client has calls in flight, so that an answer to
 * a client that is only slow is never dropped, and bounded, so that one that has stopped does not fill memory.
 */
export const SEND_HIGH_WATER_MARK = 2 * MAX_CALLS_IN_FLIGHT;

/** Messages libzmq reads ahead from one peer. */
export const RECEIVE_HIGH_WATER_MARK = 256;

/** How long libzmq may go on delivering answers after a server was stopped. */
export const LINGER_MS = 500;

/** Raw bytes of one event. The specs stop at 65,535 on every way in; locally made events may be longer. */
export const MAX_EVENT_BYTES = 1024 * 1024;

/** Bytes of a location: those of agents are cut at 65,536 with their message. */
export const MAX_LOCATION_BYTES = 64 * 1024;

/** Bytes of a stream's name: stops unbounded keys in the sink's memory. */
export const MAX_STREAM_NAME_BYTES = 128;

/** Events of one batch: enough that the cost of a frame does not show, few enough that a resend is cheap. */
export const MAX_BATCH_EVENTS = 512;

/** Message bytes after which a batch is full; the event that crosses it still goes in. */
export const MAX_BATCH_BYTES = 512 * 1024;

/** Batches of one producer that wait for their acknowledgement. */
export const MAX_BATCHES_IN_FLIGHT = 16;

/** Window of a producer: events that are not acknowledged, on the wire or waiting. */
export const MAX_WINDOW_EVENTS = 16_384;

/** The same in message bytes. One event is always taken, so that it may be crossed by at most one event. */
export const MAX_WINDOW_BYTES = 16 * 1024 * 1024;

/** Events the sink hands on in one go. */
export const MAX_GROUP_EVENTS = 8192;

/**
 * The same in bytes of frames; a frame of that size goes alone. What it becomes in the journal, at most some twice as much, must
 * be a record that the journal takes: else the batches of others would be sent back with those that are too large, for ever.
 */
export const MAX_GROUP_BYTES = SOCKET_MESSAGE_BYTES;

/** Events that wait in the sink; a batch on top is answered `busy`. */
export const MAX_SINK_EVENTS = 65_536;

/** The same in message bytes. */
export const MAX_SINK_BYTES = 64 * 1024 * 1024;

/** Streams the sink remembers: about a hundred bytes each. */
export const MAX_STREAMS = 65_536;

/** Streams in one hello; a producer with more sends several. */
export const MAX_HELLO_STREAMS = 1000;
