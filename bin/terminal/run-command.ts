/** Options of `runCommand`. */
export interface CommandOptions {
  /** Sockets or timers that are left must not keep the finished command alive. */
  exits?: boolean;
}

/**
 * Runs the command of a program; its result is the exit code of the process. A reader that went away (`svc-control status |
 * head -1`) is no error. What is thrown ends the process with status 1, as anything nobody catches.
 */
export function runCommand(command: () => Promise<number>, { exits = false }: CommandOptions = {}): void {
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  void command().then((exitCode) => {
    process.exitCode = exitCode;
    // What was written goes out first.
    if (exits) process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
  });
}
