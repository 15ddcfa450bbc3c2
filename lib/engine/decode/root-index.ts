import { MatchContext } from '../../patterns/matcher.js';
import { OpeningSieves } from '../../patterns/opening-sieves.js';
import type { DecoderSet, RootDecoder } from './decoder-set.js';

/** Program names whose roots are kept; a flood of made-up names only makes the index begin anew. */
const MAX_PROGRAMS = 2048;
/** Longer program names are looked up each time: keeping them would keep whole messages in memory. */
const MAX_PROGRAM_NAME = 128;
/** Steps that finding the roots of a program name that is kept may take. */
const MAX_STEPS = 50_000;

/** Roots in their order, with the sieves of their prematches. */
export type RootList = { readonly roots: readonly RootDecoder[]; readonly sieves: OpeningSieves };

/** Roots of a program name, and the steps that it took to find them: each event with the name takes them. */
type KnownRoots = { readonly list: RootList; readonly steps: number };

/**
 * Narrows the list of roots down to those that can match an event, in their order. Depends on nothing but the set, so all
 * engines of a ruleset share one.
 */
export class RootIndex {
  readonly #set: DecoderSet;
  readonly #byProgram = new Map<string, KnownRoots>();
  /** What is found out is remembered, and must not change what the event's own matches take. */
  readonly #context = new MatchContext();
  /** Lists by the positions of their roots: many programs have the same. */
  readonly #lists = new Map<string, RootList>();
  /** Roots without `program_name`. */
  readonly plain: RootList;

  constructor(set: DecoderSet) {
    this.#set = set;
    this.plain = listOf(set.plainRoots);
  }

  /** Makes what the first event would have to wait for, also below the roots. */
  prepare(): void {
    this.plain.sieves.prepare();
    for (const { childIndex } of [...this.#set.plainRoots, ...this.#set.programRoots]) childIndex.prepare();
  }

  /** Roots whose `program_name` matches. What finding them takes comes off the context's steps, today or at the first time. */
  forProgram(name: string, context: MatchContext): RootList {
    if (name.length > MAX_PROGRAM_NAME) return this.#find(name, context);
    let known = this.#byProgram.get(name);
    if (known === undefined) {
      const own = this.#context;
      own.forget();
      own.stepsLeft = MAX_STEPS;
      own.exhausted = false;
      const list = this.#find(name, own);
      // One that takes so many is looked for by each event, within its budget.
      if (own.exhausted || own.stepsLeft < 0) return this.#find(name, context);
      known = { list, steps: MAX_STEPS - own.stepsLeft };
      if (this.#byProgram.size >= MAX_PROGRAMS) this.#byProgram.clear();
      this.#byProgram.set(name, known);
    }
    context.stepsLeft -= known.steps;
    return known.list;
  }

  #find(name: string, context: MatchContext): RootList {
    const { programRoots } = this.#set;
    const positions: number[] = [];
    programRoots.forEach(({ decoder }, position) => {
      if (decoder.programName?.test(name, context) === true) positions.push(position);
    });
    const key = positions.join();
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = listOf(positions.flatMap((position) => programRoots[position] ?? []));
      if (this.#lists.size >= MAX_PROGRAMS) this.#lists.clear();
      this.#lists.set(key, list);
    }
    return list;
  }
}

function listOf(roots: readonly RootDecoder[]): RootList {
  return { roots, sieves: new OpeningSieves(roots.map(({ decoder }) => decoder.prematch?.requirements)) };
}
