import type { Diagnostics, SourcePlace } from '../event.js';
import { RulesetError } from './ruleset-error.js';

/**
 * Reports the texts of a failure to load rules or decoders in the reference's order and ends the load.
 * @throws RulesetError always, with the last text
 */
export function failLoad(
  diagnostics: Diagnostics,
  place: SourcePlace,
  ...texts: readonly [string, ...string[]]
): never {
  for (const text of texts) diagnostics.error(text, place);
  throw new RulesetError(texts[texts.length - 1] ?? texts[0], place);
}
