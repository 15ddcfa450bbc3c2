/** What went wrong with a download. */
export type DownloadProblem =
  /** The server, the way to it or its answer. */
  | 'server'
  /** A file or a folder of this host. */
  | 'file'
  /** A merged file that is none. */
  | 'corrupt'
  /** Nobody wants it any more. */
  | 'cancelled';

/** A download that changed nothing. The message is for the log: one line, without secrets. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly code: DownloadProblem;

  constructor(code: DownloadProblem, message: string) {
    super(message);
    this.code = code;
  }
}
