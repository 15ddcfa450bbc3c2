import { PatternError } from '../pattern-error.js';
import { firstBytes, firstThen, fixedLength, isAnchored } from './analyse.js';
import {
  type AssertionKind,
  type ByteSet,
  childrenOf,
  type LookNode,
  type Pattern,
  type PatternNode,
  someNode,
} from './ast.js';
import { addAll, singleByte } from './byte-sets.js';

/*
 * Instructions of the backtracking machine, with their operands. `register` is an index into the machine's registers,
 * `table` one into the program's tables, -1 = none; addresses are absolute.
 */
/** byte */
export const CHAR = 0;
/** table */
export const SET = 1;
/** address tried first, address tried when that fails */
export const SPLIT = 2;
/** address */
export const JUMP = 3;
/** register: notes the position */
export const SAVE = 4;
/** group, register with the position of its start: the group is set, up to here */
export const CLOSE = 25;
/** table, min, max, table of bytes that can follow: repeats of one set */
export const RUN_GREEDY = 5;
export const RUN_LAZY = 6;
export const RUN_POSSESSIVE = 7;
/** register with the position at which the round began, address of the loop: leaves it after an empty round */
export const LOOP_GREEDY = 8;
export const LOOP_LAZY = 9;
/** kind: see `ASSERTIONS` */
export const ASSERT = 10;
/** register: notes the height of the stack */
export const HEIGHT = 11;
/** register with a height: drops the choices above it */
export const CUT = 12;
/** register: goes back to the position noted there */
export const RETURN_TO = 13;
/** register with a height: undoes all above it, and fails */
export const DISCARD_FAIL = 14;
/** register with a height, register with a position, address: undoes all above, and goes on at the address */
export const DISCARD_JUMP = 15;
/** address: a choice that leads there is put aside */
export const CHOICE = 16;
/** group, 1 = fold */
export const REFER = 17;
/** group, address */
export const CALL = 18;
/** group: end of its body, where a call of it returns */
export const END_OF_CALL = 19;
/** group, address when not set */
export const IF_SET = 20;
/** group or -1, address when not in such a call */
export const IF_IN_CALL = 21;
/** count of bytes */
export const BACK = 22;
const FAIL = 23;
export const MATCH = 24;

/** Assertions by number, as the operand of ASSERT. */
export const ASSERTIONS: readonly AssertionKind[] = [
  'start',
  'line-start',
  'end',
  'end-or-final-newline',
  'line-end',
  'word-boundary',
  'no-word-boundary',
];

/** Largest program, in words; counted repeats of groups are written out. PCRE2 has a limit of the same order. */
const MAX_PROGRAM = 200_000;

export type Program = {
  readonly code: Int32Array;
  readonly tables: readonly ByteSet[];
  /** Two for each group (0 = the whole), then those of loops and assertions. */
  readonly registers: number;
  readonly captures: number;
  readonly anchored: boolean;
  /** Bytes a match begins with; undefined = any, or none. */
  readonly first: ByteSet | undefined;
  /** A match does not begin behind one of these bytes (see `leadingRun`). */
  readonly notBehind: ByteSet | undefined;
};

/** @throws PatternError when the pattern is too large, or looks behind over a length that is not fixed */
export function compileProgram({ root, captures }: Pattern, notBehind?: ByteSet): Program {
  return new Compiler(root, captures).compile(notBehind);
}

/** More words than any node has beside those inside it, and more than stand around any branch of it. */
const MOST_OWN_WORDS = 16;

/** Whether `compileProgram` cannot throw, as far as can be seen without compiling; false of patterns that are not simple. */
export function certainlyCompiles(root: PatternNode): boolean {
  return mostWords(root) <= MAX_PROGRAM && !someNode(root, mayBeWrong);
}

function mayBeWrong(node: PatternNode): boolean {
  return node.kind === 'conditional' || (node.kind === 'look' && node.behind);
}

function mostWords(node: PatternNode): number {
  let words = MOST_OWN_WORDS;
  for (const child of childrenOf(node)) words += MOST_OWN_WORDS + mostWords(child);
  if (node.kind !== 'repeat' || node.body.kind === 'set') return words;
  return words * Math.max(1, node.min, node.max === Infinity ? 0 : node.max);
}

class Compiler {
  readonly #root: PatternNode;
  readonly #captures: number;
  readonly #code: number[] = [];
  readonly #tables: ByteSet[] = [];
  readonly #tableIndex = new Map<ByteSet, number>();
  #registers: number;
  /** Address of the first body of each group. */
  readonly #bodies = new Map<number, number>();
  /** Groups whose bodies run in more than one place: what follows them is not known. */
  readonly #called: ReadonlySet<number>;
  readonly #calls: { readonly at: number; readonly group: number }[] = [];

  constructor(root: PatternNode, captures: number) {
    this.#root = root;
    this.#captures = captures;
    this.#registers = 2 * (captures + 1);
    this.#called = new Set(calledGroups(root));
  }

  compile(notBehind: ByteSet | undefined): Program {
    this.#bodies.set(0, 0);
    this.#node(this.#root, undefined);
    if (this.#called.has(0)) this.#emit(END_OF_CALL, 0);
    this.#emit(MATCH);
    for (const { at, group } of this.#calls) this.#code[at] = this.#bodies.get(group) ?? 0;
    return {
      code: Int32Array.from(this.#code),
      tables: this.#tables,
      registers: this.#registers,
      captures: this.#captures,
      anchored: isAnchored(this.#root),
      first: firstBytes(this.#root),
      notBehind,
    };
  }

  #emit(...words: number[]): number {
    const at = this.#code.length;
    this.#code.push(...words);
    if (this.#code.length > MAX_PROGRAM) {
      throw new PatternError(6, 'Pattern is too large when its repeats are written out');
    }
    return at;
  }

  #register(): number {
    this.#registers += 1;
    return this.#registers - 1;
  }

  #table(set: ByteSet | undefined): number {
    if (set === undefined) return -1;
    let index = this.#tableIndex.get(set);
    if (index === undefined) {
      index = this.#tables.push(set) - 1;
      this.#tableIndex.set(set, index);
    }
    return index;
  }

  #patch(at: number): void {
    this.#code[at] = this.#code.length;
  }

  #node(node: PatternNode, follow: ByteSet | undefined): void {
    switch (node.kind) {
      case 'empty':
        return;
      case 'fail':
        this.#emit(FAIL);
        return;
      case 'set': {
        const byte = singleByte(node.set);
        if (byte === undefined) this.#emit(SET, this.#table(node.set));
        else this.#emit(CHAR, byte);
        return;
      }
      case 'sequence': {
        const follows: (ByteSet | undefined)[] = [];
        let after = follow;
        for (const item of node.items.toReversed()) {
          follows.unshift(after);
          after = firstThen(item, after);
        }
        node.items.forEach((item, index) => this.#node(item, follows[index]));
        return;
      }
      case 'alternation':
        this.#branches(node.branches, (branch) => this.#node(branch, follow));
        return;
      case 'capture': {
        if (!this.#bodies.has(node.index)) this.#bodies.set(node.index, this.#code.length);
        const called = this.#called.has(node.index) || this.#called.has(0);
        const start = this.#register();
        this.#emit(SAVE, start);
        this.#node(node.body, called ? undefined : follow);
        this.#emit(CLOSE, node.index, start);
        if (called) this.#emit(END_OF_CALL, node.index);
        return;
      }
      case 'atomic':
        this.#atomic(() => this.#node(node.body, undefined));
        return;
      case 'repeat':
        this.#repeat(node, follow);
        return;
      case 'assertion':
        this.#emit(ASSERT, ASSERTIONS.indexOf(node.assertion));
        return;
      case 'look':
        this.#look(node);
        return;
      case 'back-reference':
        this.#emit(REFER, node.index, node.fold ? 1 : 0);
        return;
      case 'call':
        this.#calls.push({ at: this.#emit(CALL, node.index, 0) + 2, group: node.index });
        return;
      case 'conditional':
        this.#conditional(node);
    }
  }

  #branches(branches: readonly PatternNode[], emitBranch: (branch: PatternNode) => void): void {
    const ends: number[] = [];
    branches.forEach((branch, index) => {
      const toNext = index + 1 < branches.length ? this.#split(false) : undefined;
      emitBranch(branch);
      if (toNext === undefined) return;
      ends.push(this.#emit(JUMP, 0) + 1);
      this.#patch(toNext);
    });
    for (const end of ends) this.#patch(end);
  }

  #atomic(body: () => void): void {
    const height = this.#register();
    this.#emit(HEIGHT, height);
    body();
    this.#emit(CUT, height);
  }

  #repeat(node: PatternNode & { kind: 'repeat' }, follow: ByteSet | undefined): void {
    const { body, min, max, mode } = node;
    if (max === 0) {
      this.#unreachable(body);
      return;
    }
    if (body.kind === 'set') {
      const run = mode === 'greedy' ? RUN_GREEDY : mode === 'lazy' ? RUN_LAZY : RUN_POSSESSIVE;
      const limit = max === Infinity ? 0x7fffffff : max;
      this.#emit(run, this.#table(body.set), min, limit, this.#table(follow));
      return;
    }
    if (mode === 'possessive') {
      this.#atomic(() => this.#repeat({ ...node, mode: 'greedy' }, undefined));
      return;
    }
    const lazy = mode === 'lazy';
    const copies = max === Infinity ? Math.max(0, min - 1) : min;
    for (let copy = 0; copy < copies; copy += 1) this.#node(body, undefined);
    if (max === Infinity) {
      const skip = min === 0 ? this.#split(lazy) : undefined;
      const start = this.#register();
      const loop = this.#code.length;
      this.#emit(SAVE, start);
      this.#node(body, eitherFirst(body, follow));
      this.#emit(lazy ? LOOP_LAZY : LOOP_GREEDY, start, loop);
      if (skip !== undefined) this.#patch(skip);
      return;
    }
    const skips: number[] = [];
    for (let copy = min; copy < max; copy += 1) {
      skips.push(this.#split(lazy));
      this.#node(body, copy + 1 === max ? follow : undefined);
    }
    for (const skip of skips) this.#patch(skip);
  }

  /** A choice between what comes next and an address that the caller patches, which is returned. */
  #split(skipFirst: boolean): number {
    const at = this.#emit(SPLIT, 0, 0);
    this.#code[at + (skipFirst ? 2 : 1)] = this.#code.length;
    return at + (skipFirst ? 1 : 2);
  }

  /** The body is not run in its place; but its groups can be called. */
  #unreachable(body: PatternNode): void {
    const jump = this.#emit(JUMP, 0) + 1;
    this.#node(body, undefined);
    this.#patch(jump);
  }

  #look({ behind, negative, body }: LookNode): void {
    const height = this.#register();
    if (negative) {
      this.#emit(HEIGHT, height);
      const after = this.#emit(CHOICE, 0) + 1;
      this.#lookBody(behind, body);
      this.#emit(DISCARD_FAIL, height);
      this.#patch(after);
      return;
    }
    const start = this.#register();
    this.#emit(SAVE, start);
    this.#emit(HEIGHT, height);
    this.#lookBody(behind, body);
    this.#emit(CUT, height);
    this.#emit(RETURN_TO, start);
  }

  #lookBody(behind: boolean, body: PatternNode): void {
    if (!behind) {
      this.#node(body, undefined);
      return;
    }
    const branches = body.kind === 'alternation' ? body.branches : [body];
    this.#branches(branches, (branch) => {
      const length = fixedLength(branch);
      if (length === undefined) throw new PatternError(6, 'Lookbehind assertion is not fixed length');
      this.#emit(BACK, length);
      this.#node(branch, undefined);
    });
  }

  #conditional({ condition, yes, no }: PatternNode & { kind: 'conditional' }): void {
    let toNo: number | undefined;
    switch (condition.kind) {
      case 'never':
        this.#unreachable(yes);
        this.#node(no, undefined);
        return;
      case 'group-set':
        toNo = this.#emit(IF_SET, condition.index, 0) + 2;
        break;
      case 'in-call':
        toNo = this.#emit(IF_IN_CALL, condition.index ?? -1, 0) + 2;
        break;
      case 'look': {
        const { behind, negative, body } = condition.look;
        const height = this.#register();
        const start = this.#register();
        this.#emit(SAVE, start);
        this.#emit(HEIGHT, height);
        const otherwise = this.#emit(CHOICE, 0) + 1;
        this.#lookBody(behind, body);
        if (negative) {
          toNo = this.#emit(DISCARD_JUMP, height, start, 0) + 3;
          this.#patch(otherwise);
        } else {
          this.#emit(CUT, height);
          this.#emit(RETURN_TO, start);
          toNo = otherwise;
        }
        break;
      }
    }
    this.#node(yes, undefined);
    const end = this.#emit(JUMP, 0) + 1;
    this.#patch(toNo);
    this.#node(no, undefined);
    this.#patch(end);
  }
}

function calledGroups(node: PatternNode): number[] {
  const below = childrenOf(node).flatMap(calledGroups);
  return node.kind === 'call' ? [node.index, ...below] : below;
}

/** The bytes that come behind a round of a loop: those of another round, or those that follow the loop. */
function eitherFirst(body: PatternNode, follow: ByteSet | undefined): ByteSet | undefined {
  const first = firstBytes(body);
  if (first === undefined || follow === undefined) return undefined;
  const set = Uint8Array.from(first);
  addAll(set, follow);
  return set;
}
