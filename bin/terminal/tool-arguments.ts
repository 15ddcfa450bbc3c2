import type { Command } from 'commander';
import { usageErrors } from '../../lib/product/usage-errors.js';

/** Where a program writes. */
export type ToolStreams = { readonly write: (text: string) => void; readonly writeError: (text: string) => void };

/**
 * Reads the arguments of a program; what is wrong with them, help and version are written.
 * @param args without node and script
 * @returns the exit code when there is nothing more to do; undefined: go on with `command.opts()`
 */
export function parseArguments(command: Command, args: readonly string[], streams: ToolStreams): 0 | 1 | undefined {
  command.exitOverride().configureOutput({
    writeOut: streams.write,
    writeErr: streams.writeError,
    ...usageErrors(command.name()),
  });
  try {
    command.parse([...args], { from: 'user' });
    return undefined;
  } catch (error) {
    return error instanceof Error && 'exitCode' in error && error.exitCode === 0 ? 0 : 1;
  }
}
