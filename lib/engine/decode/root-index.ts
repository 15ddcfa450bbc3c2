import type { MatchContext } from '../../patterns/matcher.js';
import type { DecoderSet, RootDecoder } from './decoder-set.js';
import { firstBytes } from './first-bytes.js';

/** Program names whose roots are kept; a flood of made-up names only makes the index begin anew. */
const MAX_PROGRAMS = 2048;
/** Longer program names are looked up each time: keeping them would keep whole messages in memory. */
const MAX_PROGRAM_NAME = 128;

/**
 * Narrows the list of roots down to those that can match an event, in their order. Depends on nothing but the set, so all
 * engines of a ruleset share one.
 */
export class RootIndex {
  readonly #set: DecoderSet;
  readonly #byProgram = new Map<string, readonly RootDecoder[]>();
  /** Roots without `program_name` for each first byte of the log. */
  readonly #byFirstByte: readonly (readonly RootDecoder[])[];

  constructor(set: DecoderSet) {
    this.#set = set;
    const needed = set.plainRoots.map(({ decoder }) => decoder.prematch && firstBytes(decoder.prematch));
    this.#byFirstByte = Array.from({ length: 256 }, (_, code) =>
      set.plainRoots.filter((_root, index) => needed[index]?.has(code) ?? true),
    );
  }

  /** Roots whose `program_name` matches. */
  forProgram(name: string, context: MatchContext): readonly RootDecoder[] {
    const known = this.#byProgram.get(name);
    if (known !== undefined) {
      return known;
    }
    const before = context.exhausted;
    context.exhausted = false;
    const roots = this.#set.programRoots.filter(({ decoder }) => decoder.programName?.test(name, context) === true);
    // What an event's budget cut short says nothing about the next event.
    if (!context.exhausted && name.length <= MAX_PROGRAM_NAME) {
      if (this.#byProgram.size >= MAX_PROGRAMS) {
        this.#byProgram.clear();
      }
      this.#byProgram.set(name, roots);
    }
    context.exhausted ||= before;
    return roots;
  }

  /** Roots without `program_name` that a log can match. */
  forLog(log: string): readonly RootDecoder[] {
    // An empty log has no first byte, and some patterns match it all the same.
    return log === '' ? this.#set.plainRoots : (this.#byFirstByte[log.charCodeAt(0)] ?? this.#set.plainRoots);
  }
}
