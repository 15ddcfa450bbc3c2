/**
 * What a security rule says of a context is not known: it goes too deep, or takes too long. It is neither true nor false,
 * since a `NOT` around it would turn false into true.
 */
export class ContextNotJudgedError extends Error {
  override readonly name = 'ContextNotJudgedError';
}
