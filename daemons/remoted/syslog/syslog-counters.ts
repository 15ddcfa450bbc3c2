/** What the syslog listeners count since the start of svc-remoted (daemons-and-config.md 11.3). */
export class SyslogCounters {
  /** Events handed on, and bytes that came in from senders that are allowed. */
  messages = 0;
  receivedBytes = 0;
  sentBytes = 0;
  /** Datagrams and connections of senders that are not allowed. */
  refused = 0;
  /** Messages of which the head was taken. */
  tooLong = 0;
  /** Messages without a text. */
  empty = 0;
  /** Datagrams that found the queue full. */
  dropped = 0;
  /** Datagrams that the system threw away before they were read. */
  lost = 0;
  /** Connections ended since the length before a message could not be true. */
  malformed = 0;
  /** Refused: there are too many; timed out: silent, or in the middle of a message, for too long. */
  readonly connections = { accepted: 0, refused: 0, timedOut: 0 };
}
