import { foldAscii } from './fold-ascii.js';

/**
 * The older word matcher of group and list comparisons (decoding.md 1.6): alternatives split by `|`, a leading `^`
 * anchors, otherwise substring, all case-insensitive; `$` and `!` are literal. An empty pattern is false, an empty last
 * alternative true. For use while a ruleset is loaded: it looks at the pattern anew at each call.
 */
export function wordMatch(pattern: string, subject: string): boolean {
  if (pattern === '') return false;
  const folded = foldAscii(subject);
  return foldAscii(pattern)
    .split('|')
    .some((word, index, words) => {
      if (word === '') return index === words.length - 1;
      return word.startsWith('^') ? folded.startsWith(word.slice(1)) : folded.includes(word);
    });
}
