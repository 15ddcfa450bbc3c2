/**
 * What keeps a daemon from starting when its causes, with file and line, have been logged already: the message is the
 * closing line and goes to the log as it is, at level critical.
 */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  /** @param message the closing line @param cause the last of the causes */
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
