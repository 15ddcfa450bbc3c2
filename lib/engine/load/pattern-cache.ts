import type { Matcher, PatternLanguage } from '../../patterns/matcher.js';
import type { PatternCompiler } from './pattern-compiler.js';

/** A compiled pattern, or why it does not compile. */
export type CompiledPattern = { readonly matcher: Matcher } | { readonly error: Error };

/** Compiles each distinct pattern of a ruleset once: many rules and decoders share theirs. */
export class PatternCache {
  readonly #compile: PatternCompiler;
  readonly #known = new Map<string, CompiledPattern>();

  constructor(compile: PatternCompiler) {
    this.#compile = compile;
  }

  /** The matcher, or why the pattern does not compile. */
  find(language: PatternLanguage, source: string): CompiledPattern {
    const key = `${language} ${source}`;
    let compiled = this.#known.get(key);
    if (compiled === undefined) {
      compiled = this.#try(language, source);
      this.#known.set(key, compiled);
    }
    return compiled;
  }

  /** As a `PatternCompiler`: throws what the compiler threw. */
  readonly compile: PatternCompiler = (language, source) => {
    const compiled = this.find(language, source);
    if ('error' in compiled) throw compiled.error;
    return compiled.matcher;
  };

  /** All patterns that compiled. */
  *matchers(): Iterable<Matcher> {
    for (const compiled of this.#known.values()) if ('matcher' in compiled) yield compiled.matcher;
  }

  #try(language: PatternLanguage, source: string): CompiledPattern {
    try {
      return { matcher: this.#compile(language, source) };
    } catch (error) {
      if (error instanceof Error) return { error };
      throw error;
    }
  }
}
