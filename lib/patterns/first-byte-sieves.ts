import type { Requirements } from './requirement.js';
import { Sieve } from './sieve.js';
import type { Subject } from './subject.js';

/** Sieves of the same patterns, one for each byte with which a subject may begin; each is made when it is first asked for. */
export class FirstByteSieves {
  readonly #patterns: readonly Requirements[];
  /** By byte; the last one is for subjects that are empty, which some patterns match all the same. */
  readonly #sieves: (Sieve | undefined)[] = new Array<Sieve | undefined>(EMPTY + 1).fill(undefined);
  /** By what passes: most bytes let the same pass. */
  readonly #known = new Map<string, Sieve>();

  constructor(patterns: readonly Requirements[]) {
    this.#patterns = patterns;
  }

  /** The sieve for what begins at `from` of a subject; it says nothing about what stands before. */
  at(subject: Subject, from: number): Sieve {
    const byte = from < subject.length ? (subject.bytes[from] ?? EMPTY) : EMPTY;
    return this.#sieves[byte] ?? this.#make(byte);
  }

  #make(byte: number): Sieve {
    const accepted = this.#patterns.map((ways) =>
      ways?.filter(({ start }) => byte === EMPTY || start === undefined || start[byte] !== 0),
    );
    const key = accepted.map((ways, i) => ways?.map((way) => this.#patterns[i]?.indexOf(way)).join() ?? '*').join(';');
    let sieve = this.#known.get(key);
    if (sieve === undefined) {
      sieve = new Sieve(accepted.map((ways) => ways?.map((way) => ({ ...way, start: undefined }))));
      this.#known.set(key, sieve);
    }
    this.#sieves[byte] = sieve;
    return sieve;
  }
}

const EMPTY = 256;
