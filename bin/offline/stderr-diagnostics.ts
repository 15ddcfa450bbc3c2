import type { Diagnostics } from '../../lib/engine/event.js';
import { describePlace } from '../../lib/engine/load/ruleset-error.js';

/**
 * What programs say about a ruleset: warnings and errors go to the standard error stream with their place.
 * @param quiet leaves out warnings
 */
export function stderrDiagnostics(quiet: boolean): Diagnostics {
  const write =
    (severity: string): Diagnostics['warn'] =>
    (message, place) => {
      const where = place === undefined ? '' : ` (${describePlace(place)})`;
      process.stderr.write(`${severity}: ${message}${where}\n`);
    };
  const silent = (): void => {};
  return { debug: silent, info: silent, warn: quiet ? silent : write('WARNING'), error: write('ERROR') };
}
