/** Why a response is not carried out, as `responses.run` answers it (lib/bus/contracts/execd.ts). */
export type ResponseRefusal =
  | 'bad_message'
  | 'unknown_command'
  | 'not_found'
  | 'disabled'
  | 'white_listed'
  | 'too_many';

/** A response that is refused; the message is the line that users see (daemons-and-config.md 5.2). */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';

  constructor(
    readonly code: ResponseRefusal,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
