import { asciiLowerCase } from '../ascii-case.js';

/**
 * The older word matcher of `if_group` (decoding.md 1.6): alternatives separated by `|`, a leading `^` anchors at the
 * start, anything else is a substring, ASCII case-insensitive; `$` and `!` are ordinary. An empty pattern is false, an
 * empty last alternative is true.
 * @returns a test of group strings that are in lower case already
 */
export function compileGroupWords(pattern: string): (lowerCaseSubject: string) => boolean {
  if (pattern === '') return () => false;
  const tests = asciiLowerCase(pattern)
    .split('|')
    .map((alternative) => ({ anchored: alternative.startsWith('^'), text: alternative.replace(/^\^/, '') }));
  return (subject) =>
    tests.some(({ anchored, text }) => (anchored ? subject.startsWith(text) : subject.includes(text)));
}
