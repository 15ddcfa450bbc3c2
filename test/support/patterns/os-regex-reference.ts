import { FOLD } from '../../../lib/patterns/fold-ascii.js';
import { type OsRegexAlternative, type OsRegexElement, parseOsRegex } from '../../../lib/patterns/os-regex-parse.js';

export type ReferenceMatch = { readonly end: number; readonly captures: readonly string[] };

/** Bounds the scan: the worst case is about n^4. */
const MAX_STEPS = 5_000_000;

/**
 * OS_Regex as decoding.md 1.3.4 is written, rule by rule and without any short cut: the truth that the product's
 * matcher is compared with. Undefined = no match.
 */
export function referenceMatch(pattern: string, subject: string): ReferenceMatch | undefined {
  for (const alternative of parseOsRegex(pattern)) {
    const match = new ReferenceScan(alternative, subject).run();
    if (match !== undefined) return match;
  }
  return undefined;
}

type Slot = { readonly p: number; readonly s: number };
type Verdict = 'next' | 'redo' | 'accept' | 'fail';

class ReferenceScan {
  readonly #elements: readonly OsRegexElement[];
  readonly #dollar: boolean;
  readonly #caret: boolean;
  readonly #subject: string;
  readonly #mark: (number | undefined)[];
  #p = 0;
  #s = 0;
  #last: number | undefined = 0;
  #rep = false;
  #retry: number | undefined = undefined;
  readonly #slots: Slot[] = [];

  constructor(alternative: OsRegexAlternative, subject: string) {
    this.#elements = alternative.elements;
    this.#dollar = alternative.anchoredEnd;
    this.#caret = alternative.anchoredStart;
    this.#subject = subject;
    this.#mark = new Array<number | undefined>(alternative.marks).fill(undefined);
  }

  run(): ReferenceMatch | undefined {
    let steps = 0;
    while (this.#s < this.#subject.length) {
      steps += 1;
      if (steps > MAX_STEPS) throw new Error('The pair takes too long for the reference');
      let verdict = this.#step();
      while (verdict === 'redo') verdict = this.#step();
      if (verdict === 'accept') return this.#result();
      if (verdict === 'fail' && !this.#recover()) return undefined;
      this.#s += 1;
    }
    return this.#exhausted() ? this.#result() : undefined;
  }

  #element(at: number): OsRegexElement | undefined {
    return this.#elements[at];
  }

  #isMark(at: number): boolean {
    return this.#element(at)?.kind === 'mark';
  }

  #record(at: number, offset: number): void {
    const element = this.#element(at);
    if (element?.kind === 'mark') this.#mark[element.number] = offset;
  }

  get #pastEnd(): boolean {
    return this.#p >= this.#elements.length;
  }

  #step(): Verdict {
    // A
    if (this.#pastEnd) return this.#dollar ? 'fail' : 'accept';
    if (this.#isMark(this.#p)) {
      this.#record(this.#p, this.#s);
      this.#p += 1;
      if (this.#pastEnd) return this.#dollar ? 'fail' : 'accept';
    }
    const element = this.#element(this.#p);
    const raw = this.#subject.charCodeAt(this.#s);
    if (element?.kind !== 'class') return this.#literal(element, raw);
    return element.table[raw] === 1 ? this.#inClass(element.quantifier, raw) : this.#notInClass(element.quantifier);
  }

  /** C */
  #literal(element: OsRegexElement | undefined, raw: number): Verdict {
    if (!sameByte(element, raw)) return 'fail';
    this.#p += 1;
    this.#retry ??= this.#s;
    this.#last = this.#s;
    return 'next';
  }

  /** B */
  #inClass(quantifier: '' | '+' | '*', raw: number): Verdict {
    if (quantifier === '') {
      this.#p += 1;
      this.#retry ??= this.#s;
      this.#last = this.#s;
      return 'next';
    }
    if (quantifier === '*') this.#rep = true;
    if (this.#rep) {
      this.#repeat(raw);
    } else {
      this.#record(this.#p + 2, this.#s + 1 === this.#subject.length ? this.#s + 1 : this.#s);
      this.#rep = true;
      this.#last = this.#s;
    }
    return 'next';
  }

  /** B.3 */
  #repeat(raw: number): void {
    const k = this.#p + 2;
    const n = this.#isMark(k) ? k + 1 : k;
    const next = this.#element(n);
    if (next === undefined) {
      this.#record(k, this.#s + 1);
      return;
    }
    let target: number | undefined;
    if (next.kind === 'class') {
      if (next.table[raw] === 1) target = next.quantifier === '' ? n + 1 : n;
    } else if (sameByte(next, raw)) {
      this.#rep = false;
      target = n + 1;
    }
    if (target !== undefined) {
      this.#record(k, this.#s);
      if (this.#slots.length < 4) this.#slots.push({ p: this.#p, s: this.#s });
      this.#p = target;
    }
    this.#last = this.#s;
  }

  /** B' */
  #notInClass(quantifier: '' | '+' | '*'): Verdict {
    const left = this.#elements.length - this.#p - 1;
    const following = this.#element(this.#p + 1);
    if (this.#rep && this.#last !== undefined && (left === 0 || (left === 1 && following?.kind !== 'class'))) {
      this.#last = this.#s;
      if (!this.#dollar) return 'accept';
      this.#rep = false;
      return 'fail';
    }
    if (quantifier === '+' && this.#rep) {
      this.#p += 2;
      this.#rep = false;
      return 'redo';
    }
    if (quantifier === '*') {
      this.#p += 2;
      this.#last = this.#s - 1;
      this.#rep = false;
      return 'redo';
    }
    this.#rep = false;
    return 'fail';
  }

  /** D; false = the alternative fails. */
  #recover(): boolean {
    const slot = this.#slots.pop();
    if (slot !== undefined) {
      this.#p = slot.p;
      this.#s = slot.s;
      return true;
    }
    if (this.#caret) return false;
    if (this.#retry !== undefined) this.#s = this.#retry;
    this.#retry = undefined;
    this.#p = 0;
    this.#last = undefined;
    return true;
  }

  /** E */
  #exhausted(): boolean {
    const isClass = (at: number): boolean => this.#element(at)?.kind === 'class';
    const isStar = (at: number): boolean => {
      const element = this.#element(at);
      return element?.kind === 'class' && element.quantifier === '*';
    };
    if (this.#mark.length > 0) {
      while (isStar(this.#p)) this.#p += 2;
      this.#record(this.#p, this.#subject.length);
    }
    let cursor = this.#p;
    const ends = (): boolean => {
      if (this.#isMark(cursor)) cursor += 1;
      return cursor >= this.#elements.length;
    };
    const quantifier = (kinds: string): boolean => {
      const element = this.#element(cursor);
      const found = element?.kind === 'quantifier' && kinds.includes(String.fromCharCode(element.byte));
      if (found) cursor += 1;
      return found;
    };
    const stepOverClass = (): boolean => {
      if (!isClass(cursor)) return false;
      cursor += 1;
      return true;
    };
    if (ends()) return true;
    if (
      this.#rep &&
      stepOverClass() &&
      quantifier('+*') &&
      (ends() || (stepOverClass() && quantifier('*') && ends()))
    ) {
      return true;
    }
    return stepOverClass() && quantifier('*') && ends();
  }

  #result(): ReferenceMatch | undefined {
    if (this.#last === undefined) return undefined;
    const captures: string[] = [];
    for (let pair = 0; pair + 1 < this.#mark.length; pair += 2) {
      const open = this.#mark[pair];
      const close = this.#mark[pair + 1];
      if (open === undefined || close === undefined) break;
      if (close < open) return undefined;
      captures.push(this.#subject.slice(open, close));
    }
    return { end: this.#last, captures };
  }
}

function sameByte(element: OsRegexElement | undefined, raw: number): boolean {
  if (element === undefined || element.kind === 'class') return false;
  return (element.kind === 'mark' ? 0x28 : element.byte) === FOLD[raw];
}
