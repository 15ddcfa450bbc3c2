import type { Matcher } from '../../patterns/matcher.js';
import { OpeningSieves } from '../../patterns/opening-sieves.js';
import type { Requirements } from '../../patterns/requirement.js';
import type { Sieve } from '../../patterns/sieve.js';
import type { Subject } from '../../patterns/subject.js';
import { TextSieve } from '../../patterns/text-sieve.js';

/** Children of a chain from which on looking into all of them takes milliseconds, which is too much for the first event. */
const LONG_CHAIN = 32;

/** What is looked at of a child decoder. */
type Child = {
  readonly prematch: Matcher | undefined;
  readonly prematchAfterParent: boolean;
  readonly regex: Matcher | undefined;
  readonly plugin: string | undefined;
  readonly chained: boolean;
};

/** Narrows the children of a root down to those that an event can match, in their order. */
export class ChildIndex {
  readonly #children: readonly Child[];
  /** Positions of the children that are tried, up to the one that is taken without a trial: the rest of a chain goes with its first member. */
  readonly #heads: readonly number[];
  /** By position: that of the last child of the chain. */
  readonly #chainEnds: readonly number[];
  readonly #afterParent: boolean;
  readonly #byOpening: OpeningSieves;
  /** By position: made when it is asked for. */
  readonly #chains: (TextSieve | undefined)[];

  constructor(children: readonly Child[]) {
    this.#children = children;
    this.#chains = children.map(() => undefined);
    this.#heads = headsOf(children);
    this.#chainEnds = chainEndsOf(children);
    const tried = this.#heads.flatMap((position) => children[position] ?? []);
    this.#afterParent = tried[0]?.prematchAfterParent ?? false;
    this.#byOpening = new OpeningSieves(
      tried.map((child) => needsOf(child.prematch, child.prematchAfterParent === this.#afterParent)),
    );
  }

  /** Makes what the first event would have to wait for. */
  prepare(): void {
    this.#byOpening.prepare();
    for (const position of this.#heads) {
      if ((this.#chainEnds[position] ?? position) - position >= LONG_CHAIN) this.chain(position);
    }
  }

  /** The sieve of the children's prematches; its positions are those of `head`. */
  prematches(log: Subject, afterParent: number): Sieve {
    return this.#byOpening.at(log, this.#afterParent ? afterParent : 0);
  }

  /** Position among the children of a child that is tried; -1 for no number of one. */
  head(number: number): number {
    return this.#heads[number] ?? -1;
  }

  /**
   * The sieve of the regexes in the chain that begins at a position; its own positions count from there. Children that are more than a regex
   * pass it always.
   */
  chain(position: number): TextSieve {
    let sieve = this.#chains[position];
    if (sieve === undefined) {
      const children = this.#children.slice(position, (this.#chainEnds[position] ?? position) + 1);
      sieve = new TextSieve(
        children.map(({ plugin, regex }) => (plugin === undefined ? needsOf(regex, false) : undefined)),
      );
      this.#chains[position] = sieve;
    }
    return sieve;
  }
}

/** What a log has that the pattern matches, with the byte it begins with only where that is the log's own. */
function needsOf(matcher: Matcher | undefined, atStart: boolean): Requirements {
  const needs = matcher?.requirements;
  return atStart ? needs : needs?.map((need) => ({ ...need, start: undefined, opening: undefined }));
}

function headsOf(children: readonly Child[]): number[] {
  const heads: number[] = [];
  let inChain = false;
  for (const [position, { prematch, chained }] of children.entries()) {
    if (!inChain) heads.push(position);
    if (!inChain && prematch === undefined) break;
    inChain = chained;
  }
  return heads;
}

function chainEndsOf(children: readonly Child[]): number[] {
  const ends = children.map((_child, position) => position);
  for (let position = children.length - 2; position >= 0; position -= 1) {
    if (children[position]?.chained === true) ends[position] = ends[position + 1] ?? position;
  }
  return ends;
}
