/** What the machines know of a match: the steps it may take, and where its result goes. A `MatchContext` is one. */
export interface MatchState {
  /** Steps left for the event at hand, of some 15 ns each; below 0 there is no match. */
  stepsLeft: number;
  /** Offset of the last byte matched, see `MatchContext.end`. */
  end: number;
  /** Number of valid entries of `captures`. */
  captureCount: number;
  readonly captures: string[];
  /** Ends a match for lack of steps; always false, the matcher's answer. */
  giveUp(): false;
}
