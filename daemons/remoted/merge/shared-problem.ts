/** Something about a file of a group that users must know. */
export type SharedProblem = {
  /** As {@link sharedPath} gives it. */
  readonly path: string;
  readonly level: 'warn' | 'error';
  readonly text: string;
  /** State of the file: the same problem of another state is said again. */
  readonly stamp?: string;
  /** Said when the file is there and the problem is not any more. */
  readonly mended?: string;
};
