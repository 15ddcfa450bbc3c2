import { MatchContext } from '../../patterns/matcher.js';
import type { DecoderSet, RootDecoder } from './decoder-set.js';
import { firstBytes } from './first-bytes.js';

/** Program names whose roots are kept; a flood of made-up names only makes the index begin anew. */
const MAX_PROGRAMS = 2048;
/** Longer program names are looked up each time: keeping them would keep whole messages in memory. */
const MAX_PROGRAM_NAME = 128;
/** Steps that finding the roots of a program name that is kept may take. */
const MAX_STEPS = 50_000;

/** Roots of a program name, and the steps that it took to find them: each event with the name takes them. */
type KnownRoots = { readonly roots: readonly RootDecoder[]; readonly steps: number };

/**
 * Narrows the list of roots down to those that can match an event, in their order. Depends on nothing but the set, so all
 * engines of a ruleset share one.
 */
export class RootIndex {
  readonly #set: DecoderSet;
  readonly #byProgram = new Map<string, KnownRoots>();
  /** What is found out is remembered, and must not change what the event's own matches take. */
  readonly #context = new MatchContext();
  /** Roots without `program_name` for each first byte of the log. */
  readonly #byFirstByte: readonly (readonly RootDecoder[])[];

  constructor(set: DecoderSet) {
    this.#set = set;
    const needed = set.plainRoots.map(({ decoder }) => decoder.prematch && firstBytes(decoder.prematch));
    this.#byFirstByte = Array.from({ length: 256 }, (_, code) =>
      set.plainRoots.filter((_root, index) => needed[index]?.has(code) ?? true),
    );
  }

  /** Roots whose `program_name` matches. What finding them takes comes off the context's steps, today or at the first time. */
  forProgram(name: string, context: MatchContext): readonly RootDecoder[] {
    if (name.length > MAX_PROGRAM_NAME) return this.#find(name, context);
    let known = this.#byProgram.get(name);
    if (known === undefined) {
      const own = this.#context;
      own.forget();
      own.stepsLeft = MAX_STEPS;
      own.exhausted = false;
      const roots = this.#find(name, own);
      // One that takes so many is looked for by each event, within its budget.
      if (own.exhausted || own.stepsLeft < 0) return this.#find(name, context);
      known = { roots, steps: MAX_STEPS - own.stepsLeft };
      if (this.#byProgram.size >= MAX_PROGRAMS) this.#byProgram.clear();
      this.#byProgram.set(name, known);
    }
    context.stepsLeft -= known.steps;
    return known.roots;
  }

  #find(name: string, context: MatchContext): readonly RootDecoder[] {
    return this.#set.programRoots.filter(({ decoder }) => decoder.programName?.test(name, context) === true);
  }

  /** Roots without `program_name` that a log can match. */
  forLog(log: string): readonly RootDecoder[] {
    // An empty log has no first byte, and some patterns match it all the same.
    return log === '' ? this.#set.plainRoots : (this.#byFirstByte[log.charCodeAt(0)] ?? this.#set.plainRoots);
  }
}
