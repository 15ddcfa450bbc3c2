import { compilePattern } from '../patterns/compile-pattern.js';
import type { PatternLanguage } from '../patterns/matcher.js';
import { PatternError } from '../patterns/pattern-error.js';

/** A text of the configuration as patterns and their subjects are: a string of bytes, none of them zero. */
export function byteString(text: string): string {
  return Buffer.from(text.replaceAll('\0', ''), 'utf8').toString('latin1');
}

/** Why a text is no pattern of a language; undefined when it is one. */
export function patternProblem(language: PatternLanguage, text: string): string | undefined {
  try {
    compilePattern(language, byteString(text));
    return undefined;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}
