import type { Matcher, PatternLanguage } from './matcher.js';
import { OsMatch } from './os-match.js';
import { OsRegex } from './os-regex.js';
import { Pcre2 } from './pcre2/pcre2.js';

/**
 * Compiles a pattern of one of the languages of decoding.md 1. The pattern is a byte string.
 * @throws PatternError when it does not compile
 */
export function compilePattern(language: PatternLanguage, source: string): Matcher {
  switch (language) {
    case 'osmatch':
      return new OsMatch(source);
    case 'osregex':
      return new OsRegex(source);
    case 'pcre2':
      return new Pcre2(source);
  }
}
