import type { Matcher, PatternLanguage } from '../../patterns/matcher.js';

/** Compiles a pattern; throws when it is wrong. */
export type PatternCompiler = (language: PatternLanguage, source: string) => Matcher;
