/** Limits of the journal, each with what it stops. */

/** File of a segment: two copies of its header, then records. */
export const SEGMENT_HEADER_BYTES = 1024;

/** Marker, checksum, length, kind and time of a record, and what was safe before it. */
export const RECORD_HEADER_BYTES = 32;

/**
 * Payload of one record. Stops a length that a damaged disk made up from taking gigabytes of memory. Four times of what the
 * event sink hands on in one go, so that no batch is too large, however its texts are written.
 */
export const MAX_PAYLOAD_BYTES = 128 * 1024 * 1024;

/** Kinds of records are small numbers: one more check that bytes are a record. */
export const MAX_KIND = 0xffff;

/** Below this a segment would be headers more than records. */
export const MIN_SEGMENT_BYTES = 4096;

/** The newest segment is read whole at start: bounds that time to a second or two. */
export const MAX_SEGMENT_BYTES = 1024 * 1024 * 1024;

/**
 * A journal has at least this many segments' room. Only whole segments are deleted and never the newest: with less room
 * the newest alone could fill the journal, and nothing would ever be freed again.
 */
export const MIN_SEGMENTS = 4;

/** Records written in one go: each takes two parts of a vectored write, of which the system takes 1024. */
export const MAX_GROUP_RECORDS = 512;

/** The same in bytes; the record that crosses it still goes in. Bounds the time of one write. */
export const MAX_GROUP_BYTES = 8 * 1024 * 1024;

/** Bytes that wait to be written, more are refused: stops a disk that hangs from filling memory. */
export const MAX_QUEUED_BYTES = 256 * 1024 * 1024;

/** Longest time between two syncs, milliseconds: acknowledgements wait for it, and producers time out. */
export const MAX_SYNC_MS = 1000;

/** Readers read this much in one go. */
export const READ_CHUNK_BYTES = 512 * 1024;
