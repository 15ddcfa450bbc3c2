import { asciiLowerCase } from './ascii-case.js';

/**
 * The older word matcher of `if_group` (decoding.md 1.6): alternatives separated by `|`, a leading `^` anchors at the
 * start, anything else is a substring, ASCII case-insensitive; `$` and `!` are ordinary. An empty pattern is false, an
 * empty last alternative is true.
 */
export function groupWordMatch(pattern: string, subject: string): boolean {
  if (pattern === '') return false;
  const text = asciiLowerCase(subject);
  for (const alternative of asciiLowerCase(pattern).split('|')) {
    if (alternative.startsWith('^') ? text.startsWith(alternative.slice(1)) : text.includes(alternative)) return true;
  }
  return false;
}
