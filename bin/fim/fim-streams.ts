import type { Terminal } from '../terminal/progress-bar.js';

/** Where the tool writes and what calls it off. */
export type FimStreams = {
  /** Resolves when there is room for more. */
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => void;
  /** The terminal of the error stream, when it is one. */
  readonly terminal?: Terminal | undefined;
  readonly signal: AbortSignal;
};
