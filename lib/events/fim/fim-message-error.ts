/** Why a message of file integrity monitoring is none. */
export type FimMessageFault =
  /** No JSON object, or nested too deep to be one of these. */
  | 'malformed'
  /** A field is missing or has a value it cannot have; `field` names it. */
  | 'bad_field'
  /** Does not fit into a message even without its diff. */
  | 'too_long';

/** A message of file integrity monitoring that is not right, or cannot be made. */
export class FimMessageError extends Error {
  override readonly name = 'FimMessageError';
  readonly code: FimMessageFault;
  /** Name of the field with its parents, as `data.begin`. */
  readonly field: string | undefined;

  constructor(code: FimMessageFault, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
