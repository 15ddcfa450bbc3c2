import { asciiLowerCase } from './ascii-case.js';

/**
 * The older word matcher of `if_group` (decoding.md 1.6): alternatives separated by `|`, a leading `^` anchors at the
 * start, anything else is a substring, ASCII case-insensitive; `$` and `!` are ordinary. An empty pattern is false, an
 * empty last alternative is true.
 */
export function groupWordMatch(pattern: string, subject: string): boolean {
  return compileGroupWords(pattern)(asciiLowerCase(subject));
}

/** The same as a test of group strings that are in lower case already, for a pattern that is tried on many. */
export function compileGroupWords(pattern: string): (lowerCaseSubject: string) => boolean {
  if (pattern === '') return () => false;
  const alternatives = asciiLowerCase(pattern).split('|');
  return (subject) => {
    for (const alternative of alternatives) {
      if (alternative.startsWith('^') ? subject.startsWith(alternative.slice(1)) : subject.includes(alternative)) {
        return true;
      }
    }
    return false;
  };
}
