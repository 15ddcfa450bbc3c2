/** What svc-remoted has done with files.yml since its start; shown by `stats`. */
export class DownloadCounters {
  /** Readings of files.yml, and those that ended in a fault. */
  reads = 0;
  failedReads = 0;
  /** Files that were put in place. */
  stored = 0;
  /** Downloads that found the file as it was. */
  unchanged = 0;
  /** Downloads that changed nothing because of the server, of this host's disk, or of the content. */
  failed = 0;
  corrupt = 0;
  /** Downloads that a change of files.yml ended. */
  cancelled = 0;
  /** Bytes of what was fetched. */
  bytes = 0;
}
