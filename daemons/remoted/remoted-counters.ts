/** What svc-remoted counts since its start (daemons-and-config.md 11.3). */
export class RemotedCounters {
  receivedBytes = 0;
  sentBytes = 0;
  readonly received = {
    event: 0,
    keepalive: 0,
    startup: 0,
    shutdown: 0,
    request: 0,
    ping: 0,
    /** What could not be opened, or is no message of the protocol. */
    unknown: 0,
    /** Events that were lost: over UDP with a full queue. */
    discarded: 0,
    /** Messages opened after their connection had been closed. */
    dequeuedAfter: 0,
  };
  readonly sent = { ack: 0, ar: 0, request: 0, sca: 0, shared: 0, discarded: 0 };
  /** Pushes of merged files; those that are neither finished nor failed are under way. */
  readonly pushes = { started: 0, finished: 0, failed: 0 };
  keysReloads = 0;
  readonly mailbox = { inserted: 0, replaced: 0, processed: 0, full: 0 };
  /** Connections refused, cut off for being slow, and closed because another one took over. */
  readonly connections = { accepted: 0, refused: 0, timedOut: 0, overtaken: 0 };

  get control(): number {
    const { keepalive, startup, shutdown, request } = this.received;
    return keepalive + startup + shutdown + request;
  }
}
