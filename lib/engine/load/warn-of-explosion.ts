import type { Matcher } from '../../patterns/matcher.js';
import { canExplode } from '../../patterns/pattern-growth.js';
import type { Diagnostics, SourcePlace } from '../event.js';

/**
 * Names a pattern whose work can explode on hostile text. It is used all the same: the step budget of an event bounds it,
 * and what exceeds the budget counts as no match.
 * @param owner what the pattern belongs to, as a person would say it
 */
export function warnOfExplosion(matcher: Matcher, owner: string, diagnostics: Diagnostics, place: SourcePlace): void {
  if (!canExplode(matcher)) return;
  diagnostics.warn(
    `The pattern in ${owner} can take very long on some texts: nested or overlapping repeats. ` +
      'A text that exceeds the limit counts as not matching.',
    place,
  );
}
