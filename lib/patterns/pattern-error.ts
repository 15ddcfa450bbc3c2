/** A pattern that does not compile. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  /**
   * @param code number of decoding.md 1.2 and 1.3.1: 3 too long, 6 bad pattern, 7 bad groups; PCRE2 uses 3 and 6
   * @param message what is wrong, naming the construct
   * @param offset byte of the pattern where it went wrong
   */
  constructor(
    readonly code: number,
    message: string,
    readonly offset?: number,
  ) {
    super(message);
  }
}
