/** A pattern that does not compile. Codes of OS_Match and OS_Regex are those of decoding.md 1.2 and 1.3.1. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  /**
   * @param code 3 too long, 6 bad pattern, 7 bad groups
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
