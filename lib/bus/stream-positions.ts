/**
 * Last accepted sequence of every stream. Today kept in memory; with a journal its checkpoint stands behind it, so that
 * what was accepted before a crash is not accepted again after it.
 */
export interface StreamPositions {
  /** Last accepted sequence, or undefined for a stream that is not remembered. */
  get(stream: string): number | undefined;
  set(stream: string, sequence: number): void;
}
