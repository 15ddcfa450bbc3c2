/** Why a message of an agent about its files or its inventory is none. */
export type AgentMessageFault =
  /** No JSON object, or nested too deep to be one of these. */
  | 'malformed'
  /** A field is missing or has a value it cannot have; `field` names it. */
  | 'bad_field'
  /** Does not fit into a message even without its diff. */
  | 'too_long';

/** A message of an agent that is not right, or cannot be made. */
export class AgentMessageError extends Error {
  override readonly name = 'AgentMessageError';
  readonly code: AgentMessageFault;
  /** Name of the field with its parents, as `data.begin`. */
  readonly field: string | undefined;

  constructor(code: AgentMessageFault, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
