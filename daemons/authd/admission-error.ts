/** Why an agent was not added. */
export type RefusalCode =
  | 'duplicate_id'
  | 'duplicate_ip'
  | 'duplicate_name'
  | 'manager_name'
  | 'bad_id'
  | 'bad_name'
  | 'bad_key'
  | 'unknown_group'
  | 'write_failed'
  | 'cluster_unavailable';

/** An agent was not added, or not removed; the message says why, for the log and for operators. */
export class AdmissionError extends Error {
  override readonly name = 'AdmissionError';

  constructor(
    readonly code: RefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
