/** Numbers of the JSON answers (daemons-and-config.md 12). */
export type AgentControlErrorNumber = 40 | 41 | 42 | 43 | 44 | 45 | 46 | 47;

/** What could not be done. */
export class AgentControlError extends Error {
  override readonly name = 'AgentControlError';

  constructor(
    readonly number: AgentControlErrorNumber,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
