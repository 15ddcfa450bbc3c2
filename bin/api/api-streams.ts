import type { ReadStream } from 'node:tty';

/** Where the program reads and writes. */
export type ApiStreams = {
  /** Resolves when there is room for more. */
  readonly write: (text: string) => Promise<void>;
  /** Comes when nobody reads any more what is written. */
  readonly gone: AbortSignal;
  readonly writeError: (text: string) => void;
  /** Width of the terminal that answers are shown on; undefined: they go to a file or a pipe. */
  readonly columns: number | undefined;
  /** Whether errors and progress are shown on a terminal. */
  readonly errorsOnTerminal: boolean;
  readonly input: AsyncIterable<Buffer>;
  /** The input, when it is a terminal. */
  readonly terminalInput: ReadStream | undefined;
  readonly environment: NodeJS.ProcessEnv;
};
