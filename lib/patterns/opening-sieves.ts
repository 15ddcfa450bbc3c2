import type { Opening, OpeningElement } from './opening.js';
import type { ByteTable } from './os-regex-parse.js';
import type { Requirement, Requirements } from './requirement.js';
import { MAX_WAYS, Sieve } from './sieve.js';
import type { Subject } from './subject.js';

/** Bytes of a subject that are looked at: a match that is tried in vain costs as much as some 50 of them. */
const MAX_DEPTH = 48;
/** The same where a state can have very many positions. */
const MIN_DEPTH = 2;
/** Positions that are looked at to make the states of one subject: some 10 milliseconds. */
const MAX_WORK = 48_000;
/** Patterns from which on looking into all of them takes milliseconds, which is too much for the first subject. */
const MANY_PATTERNS = 50;
/** States that are kept, and positions in them; where subjects lead to more, all are made anew. */
const MAX_STATES = 1024;
const MAX_POSITIONS = 2_000_000;

/**
 * Sieves of the same patterns, one for each set of them whose openings a subject may have. An automaton follows all openings at once, a
 * step a byte, until one of them at most is undecided. Its states are made when subjects lead there.
 */
export class OpeningSieves {
  readonly #patterns: readonly Requirements[];
  #automaton: Automaton | undefined = undefined;

  constructor(patterns: readonly Requirements[]) {
    this.#patterns = patterns;
  }

  /** Makes what the first subject would have to wait for. */
  prepare(): void {
    if (this.#patterns.length >= MANY_PATTERNS) this.#automaton ??= new Automaton(this.#patterns);
  }

  /** The sieve for what begins at `from` of a subject; it says nothing about what stands before. */
  at(subject: Subject, from: number): Sieve {
    return (this.#automaton ??= new Automaton(this.#patterns)).at(subject, from);
  }
}

type State = {
  /** Positions of openings that are expected next, in ascending order. */
  readonly positions: readonly number[];
  /** Made when it is asked for. */
  sieve: Sieve | undefined;
};

/** An entry of the table that is not made yet; no state has this number. */
const UNKNOWN = 0;

class Automaton {
  readonly #patterns: readonly Requirements[];
  /** Position of the end of each opening, where nothing is expected any more: the way may match. */
  readonly #ends = new Map<Requirement, number>();
  /** By position: what is expected there, and the end of the opening. */
  readonly #elements: (OpeningElement | undefined)[] = [];
  readonly #endOf: number[] = [];
  readonly #beginnings: number[] = [];
  /** Bytes that no element tells apart have the same class. */
  readonly #classes: Uint8Array;
  readonly #classCount: number;
  readonly #depth: number;
  readonly #maxStates: number;

  #states: State[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #sieves = new Map<string, Sieve>();
  /** By state and class: the number of the next state; -number of one from which on nothing is decided. Small, as it is seldom in the processor's cache. */
  #table = new Int16Array(0);
  #start = UNKNOWN;

  constructor(patterns: readonly Requirements[]) {
    this.#patterns = patterns;
    let width = 1;
    for (const way of patterns.flatMap((ways) => (isSieved(ways) ? ways : []))) {
      const opening = openingOf(way);
      if (opening === undefined || opening.length === 0) continue;
      const beginning = this.#elements.length;
      const end = beginning + opening.length;
      this.#elements.push(...opening, undefined);
      for (let position = beginning; position <= end; position += 1) this.#endOf.push(end);
      this.#beginnings.push(beginning);
      width += widthOf(opening);
      this.#ends.set(way, end);
    }
    this.#classes = classesOf(this.#elements.flatMap((element) => element?.table ?? []));
    this.#classCount = Math.max(...this.#classes) + 1;
    this.#depth = Math.max(MIN_DEPTH, Math.min(MAX_DEPTH, Math.floor(MAX_WORK / width)));
    this.#maxStates = Math.min(MAX_STATES, Math.ceil(MAX_POSITIONS / width));
    this.#clear();
  }

  at({ bytes, length }: Subject, from: number): Sieve {
    const classes = this.#classes;
    const classCount = this.#classCount;
    const end = Math.min(length, from + this.#depth);
    let state = this.#start;
    for (let i = from; i < end && state > 0; i += 1) {
      const byte = bytes[i] ?? 0;
      const next = this.#table[state * classCount + (classes[byte] ?? 0)] ?? UNKNOWN;
      state = next === UNKNOWN ? this.#follow(state, byte) : next;
    }
    const reached = this.#stateOf(state);
    return reached.sieve ?? this.#sieveOf(reached);
  }

  #clear(): void {
    this.#numbers.clear();
    this.#sieves.clear();
    this.#states = [{ positions: [], sieve: undefined }];
    this.#table = new Int16Array(this.#classCount);
    this.#start = this.#add(this.#passed(this.#beginnings));
  }

  #stateOf(entry: number): State {
    const state = this.#states[Math.abs(entry)];
    if (state === undefined) throw new RangeError('There is no such state.');
    return state;
  }

  /** Makes the state behind a byte. */
  #follow(from: number, byte: number): number {
    const taken: number[] = [];
    for (const position of this.#stateOf(from).positions) {
      const element = this.#elements[position];
      if (element === undefined) taken.push(position);
      else if (element.table[byte] !== 0) taken.push(element.repeats ? position : position + 1);
    }
    const positions = this.#passed(taken);
    if (this.#states.length >= this.#maxStates && !this.#numbers.has(positions.join())) {
      this.#clear();
      return this.#add(positions);
    }
    const next = this.#add(positions);
    this.#table[from * this.#classCount + (this.#classes[byte] ?? 0)] = next;
    return next;
  }

  /** Positions with those behind repeats, which need not take a byte; of an opening that is passed its end alone. */
  #passed(positions: readonly number[]): number[] {
    const all = new Set<number>();
    for (let position of positions) {
      all.add(position);
      while (this.#elements[position]?.repeats === true) all.add((position += 1));
    }
    return [...all]
      .filter((position) => !all.has(this.#endOf[position] ?? -1) || this.#endOf[position] === position)
      .sort((a, b) => a - b);
  }

  /** The entry of the table for a state. */
  #add(positions: readonly number[]): number {
    const key = positions.join();
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#states.push({ positions, sieve: undefined }) - 1;
    const undecided = new Set(
      positions.filter((position) => this.#elements[position] !== undefined).map((position) => this.#endOf[position]),
    );
    const size = this.#states.length * this.#classCount;
    if (size > this.#table.length) {
      const table = new Int16Array(2 * size);
      table.set(this.#table);
      this.#table = table;
    }
    const entry = undecided.size > 1 ? number : -number;
    this.#numbers.set(key, entry);
    return entry;
  }

  #sieveOf(state: State): Sieve {
    const alive = new Set(state.positions.map((position) => this.#endOf[position]));
    const key = [...alive].join();
    let sieve = this.#sieves.get(key);
    if (sieve === undefined) {
      const isAlive = (way: Requirement): boolean => {
        const end = this.#ends.get(way);
        return end === undefined || alive.has(end);
      };
      // The byte that a subject begins with has been looked at.
      sieve = new Sieve(
        this.#patterns.map((ways) =>
          isSieved(ways) ? ways.filter(isAlive).map((way) => ({ ...way, start: undefined })) : ways,
        ),
      );
      this.#sieves.set(key, sieve);
    }
    state.sieve = sieve;
    return sieve;
  }
}

/** Whether the ways are few enough to be told apart. */
function isSieved(ways: Requirements): ways is readonly Requirement[] {
  return ways !== undefined && ways.length <= MAX_WAYS;
}

function openingOf({ opening, start }: Requirement): Opening | undefined {
  return opening?.() ?? (start === undefined ? undefined : [{ table: start, repeats: false }]);
}

/** Most positions of an opening that a state can have. */
function widthOf(opening: Opening): number {
  let width = 1;
  let repeats = 0;
  for (const [at, { table, repeats: isRepeat }] of opening.entries()) {
    repeats = isRepeat ? repeats + 1 : 0;
    width = Math.max(width, repeats + 1);
    // Where the byte may belong to the repeat or to what is behind, each position from there on may be reached.
    const isAmbiguous = isRepeat && followersOf(opening, at).some((other) => overlap(table, other.table));
    if (isAmbiguous) return opening.length - at + 1;
  }
  return width;
}

/** The elements that may take the byte behind those that a repeat took. */
function followersOf(opening: Opening, repeat: number): Opening {
  const end = opening.findIndex(({ repeats }, at) => at > repeat && !repeats);
  return opening.slice(repeat + 1, end < 0 ? undefined : end + 1);
}

function overlap(one: ByteTable, other: ByteTable): boolean {
  return one.some((flag, byte) => flag !== 0 && other[byte] !== 0);
}

/** By byte the number of its class: bytes of one class have the same flag in each of the tables. */
function classesOf(tables: readonly ByteTable[]): Uint8Array {
  let classes = new Uint8Array(256);
  for (const table of new Set(tables)) {
    const numbers = new Map<number, number>();
    classes = classes.map((known, byte) => {
      const key = 2 * known + (table[byte] === 0 ? 0 : 1);
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      return number;
    });
  }
  return classes;
}
