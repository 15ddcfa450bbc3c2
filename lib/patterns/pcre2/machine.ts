import { FOLD } from '../fold-ascii.js';
import type { MatchState } from '../match-state.js';
import type { Subject } from '../subject.js';
import type { ByteSet } from './ast.js';
import {
  ASSERT,
  ASSERTIONS,
  BACK,
  CALL,
  CHAR,
  CHOICE,
  CLOSE,
  CUT,
  DISCARD_FAIL,
  DISCARD_JUMP,
  END_OF_CALL,
  HEIGHT,
  IF_IN_CALL,
  IF_SET,
  JUMP,
  LOOP_GREEDY,
  LOOP_LAZY,
  MATCH,
  type Program,
  REFER,
  RETURN_TO,
  RUN_GREEDY,
  RUN_LAZY,
  RUN_POSSESSIVE,
  SAVE,
  SET,
  SPLIT,
} from './program.js';

/** Kinds of stack entries; an entry is three words: value << 2 | kind, and two operands. */
const RETRY = 0;
const GREEDY = 1;
const LAZY = 2;
const UNDO = 3;
const ENTRY = 3;

const INITIAL_STACK = 3 * 1024;
/** Largest stack, in words (16 MB): what needs more counts as too costly. A 64 KB subject needs some 800,000 at most in ordinary loops. */
const MAX_STACK = 4 * 1024 * 1024;
/** Stacks larger than this (words) are given back after the match. */
const KEPT_STACK = 256 * 1024;
/** Most calls of groups in one attempt: each takes memory. */
const MAX_CALLS = 20_000;
/** Bytes that a repeat of one set passes in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 2;
/** What entering a repeat of one set, or coming back to it, costs more than another instruction. */
const RUN_STEPS = 1;

const UNSET = -1;
const NO_CALL = -1;

type SubpatternCall = {
  readonly group: number;
  readonly returnTo: number;
  readonly parent: number;
  readonly position: number;
  readonly registers: Int32Array;
};

/**
 * Backtracking matcher for PCRE2 programs. Everything it may have to come back to stands on a stack of its own, so that
 * neither recursion nor time is unbounded: each instruction is a step, and without steps left there is no match.
 */
export class BacktrackMachine {
  /** After a match: start and end offset of each group, -1 where not set. */
  registers = new Int32Array(32);
  #stack = new Int32Array(INITIAL_STACK);
  #height = 0;
  readonly #calls: SubpatternCall[] = [];
  /** A call that leads to itself was met: no match at any start. */
  #failedForGood = false;

  run(program: Program, subject: Subject, context: MatchState): boolean {
    const { registers, anchored, first, notBehind } = program;
    // One more, behind those of the program: the call under way.
    if (this.registers.length < registers + 1) this.registers = new Int32Array(registers + 1);
    const { bytes, length: size } = subject;
    let found = false;
    this.#failedForGood = false;
    // An attempt that fails has restored them.
    this.registers.fill(UNSET, 0, registers + 1);
    context.stepsLeft -= registers >> BYTES_A_STEP_SHIFT;
    for (let start = 0; start <= size; start += 1) {
      if (!anchored) {
        const from = start;
        while (start < size && !mayBegin(first, notBehind, bytes, start)) start += 1;
        context.stepsLeft -= (start - from) >> BYTES_A_STEP_SHIFT;
        if (start === size && (first !== undefined || isBehind(notBehind, bytes, start))) break;
      }
      this.#height = 0;
      this.#calls.length = 0;
      found = this.#attempt(program, bytes, size, start, context);
      if (found || anchored || context.stepsLeft < 0 || this.#failedForGood) break;
    }
    if (this.#stack.length > KEPT_STACK) this.#stack = new Int32Array(INITIAL_STACK);
    return context.stepsLeft < 0 ? context.giveUp() : found;
  }

  /** One try at one start; `stepsLeft` below 0 afterwards = gave up. */
  // oxlint-disable-next-line max-lines-per-function -- an interpreter's loop: calls between its steps would slow it down
  #attempt(program: Program, bytes: Uint8Array, size: number, start: number, context: MatchState): boolean {
    const { code, tables } = program;
    const callRegister = program.registers;
    const registers = this.registers;
    let steps = context.stepsLeft;
    let pc = 0;
    let position = start;

    for (;;) {
      steps -= 1;
      if (steps < 0 || this.#height > MAX_STACK) {
        context.stepsLeft = -1;
        return false;
      }
      let failed = false;
      switch (code[pc]) {
        case CHAR:
          if (position < size && bytes[position] === code[pc + 1]) {
            position += 1;
            pc += 2;
          } else {
            failed = true;
          }
          break;
        case SET:
          if (position < size && (tables[code[pc + 1] ?? 0] ?? NOTHING)[bytes[position] ?? 0] === 1) {
            position += 1;
            pc += 2;
          } else {
            failed = true;
          }
          break;
        case SPLIT:
          this.#push(((code[pc + 2] ?? 0) << 2) | RETRY, position, 0);
          pc = code[pc + 1] ?? 0;
          break;
        case JUMP:
          pc = code[pc + 1] ?? 0;
          break;
        case SAVE:
          this.#set(code[pc + 1] ?? 0, position);
          pc += 2;
          break;
        case CLOSE: {
          const group = code[pc + 1] ?? 0;
          this.#set(2 * group, registers[code[pc + 2] ?? 0] ?? UNSET);
          this.#set(2 * group + 1, position);
          pc += 3;
          break;
        }
        case RUN_GREEDY:
        case RUN_POSSESSIVE: {
          const table = tables[code[pc + 1] ?? 0] ?? NOTHING;
          const least = position + (code[pc + 2] ?? 0);
          const limit = Math.min(size, position + (code[pc + 3] ?? 0));
          const end = endOfRun(table, bytes, position, limit);
          steps -= RUN_STEPS + ((end - position) >> BYTES_A_STEP_SHIFT);
          if (end < least) {
            failed = true;
          } else if (code[pc] === RUN_POSSESSIVE) {
            position = end;
            pc += 5;
          } else {
            this.#push((pc << 2) | GREEDY, end + 1, least);
            failed = true;
          }
          break;
        }
        case RUN_LAZY: {
          const table = tables[code[pc + 1] ?? 0] ?? NOTHING;
          const least = position + (code[pc + 2] ?? 0);
          const limit = Math.min(size, position + (code[pc + 3] ?? 0));
          const end = endOfRun(table, bytes, position, Math.min(least, limit));
          steps -= RUN_STEPS + ((end - position) >> BYTES_A_STEP_SHIFT);
          if (end >= least) this.#push((pc << 2) | LAZY, end, limit);
          failed = true;
          break;
        }
        case LOOP_GREEDY:
          if (registers[code[pc + 1] ?? 0] === position) {
            pc += 3;
          } else {
            this.#push(((pc + 3) << 2) | RETRY, position, 0);
            pc = code[pc + 2] ?? 0;
          }
          break;
        case LOOP_LAZY:
          if (registers[code[pc + 1] ?? 0] !== position) this.#push(((code[pc + 2] ?? 0) << 2) | RETRY, position, 0);
          pc += 3;
          break;
        case ASSERT:
          if (holds(code[pc + 1] ?? 0, bytes, position, size)) pc += 2;
          else failed = true;
          break;
        case HEIGHT:
          this.#set(code[pc + 1] ?? 0, this.#height);
          pc += 2;
          break;
        case CUT:
          steps -= this.#cut(registers[code[pc + 1] ?? 0] ?? 0);
          pc += 2;
          break;
        case RETURN_TO:
          position = registers[code[pc + 1] ?? 0] ?? 0;
          pc += 2;
          break;
        case DISCARD_FAIL:
          steps -= this.#discard(registers[code[pc + 1] ?? 0] ?? 0);
          failed = true;
          break;
        case DISCARD_JUMP:
          position = registers[code[pc + 2] ?? 0] ?? 0;
          steps -= this.#discard(registers[code[pc + 1] ?? 0] ?? 0);
          pc = code[pc + 3] ?? 0;
          break;
        case CHOICE:
          this.#push(((code[pc + 1] ?? 0) << 2) | RETRY, position, 0);
          pc += 2;
          break;
        case REFER: {
          const from = registers[2 * (code[pc + 1] ?? 0)] ?? UNSET;
          const length = (registers[2 * (code[pc + 1] ?? 0) + 1] ?? UNSET) - from;
          // Whatever comes of it: most of a long text may be the same.
          if (position + length <= size) steps -= length >> BYTES_A_STEP_SHIFT;
          if (from === UNSET || !sameBytes(bytes, from, position, length, size, code[pc + 2] === 1)) {
            failed = true;
          } else {
            position += length;
            pc += 3;
          }
          break;
        }
        case CALL: {
          const group = code[pc + 1] ?? 0;
          steps -= program.registers;
          if (this.#calls.length >= MAX_CALLS) {
            context.stepsLeft = -1;
            return false;
          }
          const parent = registers[callRegister] ?? NO_CALL;
          // PCRE2 ends the whole match with an error when a call leads to itself without having taken a byte.
          for (let call = parent; call !== NO_CALL; call = this.#calls[call]?.parent ?? NO_CALL) {
            steps -= 1;
            if (this.#calls[call]?.position !== position) break;
            if (this.#calls[call]?.group === group) {
              context.stepsLeft = steps;
              this.#failedForGood = true;
              return false;
            }
          }
          const saved = registers.slice(0, program.registers);
          this.#set(
            callRegister,
            this.#calls.push({ group, returnTo: pc + 3, parent, position, registers: saved }) - 1,
          );
          pc = code[pc + 2] ?? 0;
          break;
        }
        case END_OF_CALL: {
          const under = registers[callRegister] ?? NO_CALL;
          const call = under < 0 ? undefined : this.#calls[under];
          if (call === undefined || call.group !== code[pc + 1]) {
            pc += 2;
            break;
          }
          steps -= program.registers;
          for (let i = 0; i < program.registers; i += 1) {
            const value = call.registers[i] ?? UNSET;
            if (registers[i] !== value) this.#set(i, value);
          }
          this.#set(callRegister, call.parent);
          pc = call.returnTo;
          break;
        }
        case IF_SET:
          pc = registers[2 * (code[pc + 1] ?? 0) + 1] === UNSET ? (code[pc + 2] ?? 0) : pc + 3;
          break;
        case IF_IN_CALL: {
          const call = this.#calls[registers[callRegister] ?? NO_CALL];
          const group = code[pc + 1];
          pc = call !== undefined && (group === -1 || group === call.group) ? pc + 3 : (code[pc + 2] ?? 0);
          break;
        }
        case BACK:
          position -= code[pc + 1] ?? 0;
          if (position < 0) failed = true;
          else pc += 2;
          break;
        case MATCH:
          registers[0] = start;
          registers[1] = position;
          context.stepsLeft = steps;
          return true;
        default:
          failed = true;
      }
      if (!failed) continue;

      // Go back to the latest choice.
      const stack = this.#stack;
      let height = this.#height;
      resume: for (;;) {
        if (height === 0) {
          context.stepsLeft = steps;
          this.#height = 0;
          return false;
        }
        height -= ENTRY;
        const tag = stack[height] ?? 0;
        const value = tag >> 2;
        const a = stack[height + 1] ?? 0;
        const b = stack[height + 2] ?? 0;
        switch (tag & 3) {
          case UNDO:
            registers[value] = a;
            continue;
          case RETRY:
            pc = value;
            position = a;
            break resume;
          case GREEDY: {
            // `a` is one behind the longest length left to try, `b` the shortest.
            const next = code[value + 4] ?? -1;
            const end = next < 0 ? a - 1 : lastBefore(tables[next] ?? NOTHING, bytes, Math.min(a, size), b);
            steps -= RUN_STEPS + ((a - end) >> BYTES_A_STEP_SHIFT);
            if (end < b) continue;
            if (end > b) {
              stack[height + 1] = end;
              height += ENTRY;
            }
            pc = value + 5;
            position = end;
            break resume;
          }
          default: {
            // `a` is the shortest length left to try, `b` the limit.
            const table = tables[code[value + 1] ?? 0] ?? NOTHING;
            const next = code[value + 4] ?? -1;
            const end = next < 0 ? a : firstWithin(table, tables[next] ?? NOTHING, bytes, a, b, size);
            const more = end >= 0 && end < b && table[bytes[end] ?? 0] === 1;
            steps -= RUN_STEPS + (((end < 0 ? ~end : end) - a) >> BYTES_A_STEP_SHIFT);
            if (end < 0) continue;
            if (more) {
              stack[height + 1] = end + 1;
              height += ENTRY;
            }
            pc = value + 5;
            position = end;
            break resume;
          }
        }
      }
      this.#height = height;
    }
  }

  #push(tag: number, a: number, b: number): void {
    const height = this.#height;
    let stack = this.#stack;
    if (height + ENTRY > stack.length) {
      const larger = new Int32Array(stack.length * 2);
      larger.set(stack);
      this.#stack = larger;
      stack = larger;
    }
    stack[height] = tag;
    stack[height + 1] = a;
    stack[height + 2] = b;
    this.#height = height + ENTRY;
  }

  #set(register: number, value: number): void {
    this.#push((register << 2) | UNDO, this.registers[register] ?? UNSET, 0);
    this.registers[register] = value;
  }

  /** Drops the choices above a height, but not what restores registers. Returns the steps it took. */
  #cut(height: number): number {
    const stack = this.#stack;
    const top = this.#height;
    let kept = height;
    for (let at = height; at < top; at += ENTRY) {
      if (((stack[at] ?? 0) & 3) !== UNDO) continue;
      stack[kept] = stack[at] ?? 0;
      stack[kept + 1] = stack[at + 1] ?? 0;
      kept += ENTRY;
    }
    this.#height = kept;
    return (top - height) >> BYTES_A_STEP_SHIFT;
  }

  /** Undoes everything above a height. Returns the steps it took. */
  #discard(height: number): number {
    const stack = this.#stack;
    const top = this.#height;
    for (let at = top - ENTRY; at >= height; at -= ENTRY) {
      const tag = stack[at] ?? 0;
      if ((tag & 3) === UNDO) this.registers[tag >> 2] = stack[at + 1] ?? UNSET;
    }
    this.#height = height;
    return (top - height) >> BYTES_A_STEP_SHIFT;
  }
}

/** Where a run of a set ends that begins at `from`. */
function endOfRun(set: ByteSet, bytes: Uint8Array, from: number, limit: number): number {
  let end = from;
  while (end < limit && set[bytes[end] ?? 0] === 1) end += 1;
  return end;
}

/** The last position before `behind` and not before `least` with a byte of the set; below `least` = none. */
function lastBefore(set: ByteSet, bytes: Uint8Array, behind: number, least: number): number {
  let position = behind - 1;
  while (position >= least && set[bytes[position] ?? 0] === 0) position -= 1;
  return position;
}

/** The first position from `from` on, over bytes of the run as far as `limit`, with a byte of `next`; ~x = none up to x. */
function firstWithin(
  run: ByteSet,
  next: ByteSet,
  bytes: Uint8Array,
  from: number,
  limit: number,
  size: number,
): number {
  let position = from;
  while (position < size && next[bytes[position] ?? 0] === 0) {
    if (position >= limit || run[bytes[position] ?? 0] === 0) return ~position;
    position += 1;
  }
  return position < size ? position : ~position;
}

const NOTHING: ByteSet = new Uint8Array(256);

function isBehind(notBehind: ByteSet | undefined, bytes: Uint8Array, start: number): boolean {
  return notBehind !== undefined && start > 0 && notBehind[bytes[start - 1] ?? 0] === 1;
}

function mayBegin(
  first: ByteSet | undefined,
  notBehind: ByteSet | undefined,
  bytes: Uint8Array,
  start: number,
): boolean {
  return (first === undefined || first[bytes[start] ?? 0] === 1) && !isBehind(notBehind, bytes, start);
}

function sameBytes(bytes: Uint8Array, a: number, b: number, length: number, size: number, fold: boolean): boolean {
  if (b + length > size) return false;
  for (let i = 0; i < length; i += 1) {
    const x = bytes[a + i] ?? 0;
    const y = bytes[b + i] ?? 0;
    if (x !== y && !(fold && FOLD[x] === FOLD[y])) return false;
  }
  return true;
}

const NEWLINE = 0x0a;

function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const folded = FOLD[byte] ?? 0;
  return (folded >= 0x61 && folded <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
}

function holds(assertion: number, bytes: Uint8Array, position: number, size: number): boolean {
  switch (ASSERTIONS[assertion]) {
    case 'start':
      return position === 0;
    case 'line-start':
      // Not behind a newline that ends the subject.
      return position === 0 || (bytes[position - 1] === NEWLINE && position < size);
    case 'end':
      return position === size;
    case 'end-or-final-newline':
      return position === size || (position === size - 1 && bytes[position] === NEWLINE);
    case 'line-end':
      return position === size || bytes[position] === NEWLINE;
    case 'word-boundary':
    case 'no-word-boundary': {
      const before = position > 0 && isWord(bytes[position - 1]);
      const behind = position < size && isWord(bytes[position]);
      return (before !== behind) === (ASSERTIONS[assertion] === 'word-boundary');
    }
    default:
      return false;
  }
}
