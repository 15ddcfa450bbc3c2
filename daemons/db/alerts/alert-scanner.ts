import type { AlertContent } from './alert-content.js';
import { type AlertValue, FAMILIES, plainValue } from './alert-fields.js';
import { LEFT_OUT, visitWords } from './alert-words.js';
import { timeOfStamp } from './stamp-time.js';

/** A member that is looked for, and those within it. */
type Member = {
  readonly name: string;
  readonly members: Member[];
  /** Where its value is noted; -1 for one of which only members are looked for. */
  slot: number;
  /** The number of the line in which it was met last. */
  line: number;
};

/** Deeper alerts are read as JSON. */
const MAX_DEPTH = 32;
/** Room for the words of most alerts. */
const FIRST_WORDS = 1024;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Written as `String` writes it. */
const PLAIN_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const DOT = 0x2e;
const BETWEEN = '\u0000';

/**
 * Reads lines of alerts.json as svc-analysisd writes them without making objects of them, in a third of the time that JSON takes. It knows
 * when a line is none of those: then nothing is said of it, and JSON decides.
 */
export class AlertScanner implements AlertContent {
  time = Number.NaN;
  #text = '';
  #at = 0;
  /** Neither escapes nor characters beyond ASCII. */
  #isPlain = true;
  #line = 0;
  readonly #root: Member;
  readonly #rule: Member;
  readonly #slots: readonly (readonly number[])[];
  /** Where the value of each slot begins and ends in the line; 0 and 0 where there is none. */
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  #words = new Uint32Array(FIRST_WORDS);
  #count = 0;

  constructor() {
    this.#root = { name: '', members: [], slot: -1, line: 0 };
    let slots = 0;
    this.#slots = FAMILIES.map((fields) =>
      fields.map((field) => {
        const member = memberAt(this.#root, field.split('.'));
        member.slot = slots;
        slots += 1;
        return member.slot;
      }),
    );
    this.#rule = memberAt(this.#root, ['rule']);
    this.#from = new Int32Array(slots);
    this.#to = new Int32Array(slots);
  }

  /** @returns whether this is what the line says, until another one is scanned; JSON must be asked otherwise */
  scan(line: string): boolean {
    this.#text = line;
    this.#at = 0;
    this.#line += 1;
    this.#isPlain = !/[^\u0020-\u005b\u005d-\u007e]/.test(line);
    this.#from.fill(0);
    this.#to.fill(0);
    this.#count = 0;
    this.time = Number.NaN;
    return this.#object(this.#root, 0) && this.#at === line.length && this.#rule.line === this.#line;
  }

  key(family: number): string {
    const [first = 0, ...others] = this.#slots[family] ?? [];
    let key = this.#text.slice(this.#from[first], this.#to[first]);
    for (const slot of others) key += BETWEEN + this.#text.slice(this.#from[slot], this.#to[slot]);
    return key;
  }

  values(family: number): AlertValue[] {
    return (this.#slots[family] ?? []).map((slot) => {
      const written = this.#text.slice(this.#from[slot], this.#to[slot]);
      return written === '' ? null : plainValue(JSON.parse(written));
    });
  }

  visitWords(visit: (hash: number) => void): void {
    for (let at = 0; at < this.#count; at += 1) visit(this.#words[at] ?? 0);
  }

  /** @returns false when the value is written in another way, or is none */
  #value(member: Member | undefined, depth: number, isSearched: boolean): boolean {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string(isSearched);
      case OPEN_BRACE:
        return this.#object(member, depth);
      case OPEN_BRACKET:
        return this.#array(depth, isSearched, member !== undefined && member.slot >= 0);
      default:
        return this.#word('true', isSearched) || this.#word('false', isSearched) || this.#word('null', false)
          ? true
          : this.#number(isSearched);
    }
  }

  #object(member: Member | undefined, depth: number): boolean {
    const text = this.#text;
    if (depth > MAX_DEPTH || text.charCodeAt(this.#at) !== OPEN_BRACE) return false;
    this.#at += 1;
    if (text.charCodeAt(this.#at) === CLOSE_BRACE) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (text.charCodeAt(this.#at) !== QUOTE) return false;
      const from = this.#at + 1;
      const to = text.indexOf('"', from);
      if (to < 0 || (!this.#isPlain && isOdd(text, from, to))) return false;
      if (text.charCodeAt(to + 1) !== COLON) return false;
      this.#at = to + 2;
      if (!this.#member(member, from, to, depth)) return false;
      const end = text.charCodeAt(this.#at);
      this.#at += 1;
      if (end === CLOSE_BRACE) return true;
      if (end !== COMMA) return false;
    }
  }

  /** The value of a member with the name that lies there. */
  #member(parent: Member | undefined, from: number, to: number, depth: number): boolean {
    const text = this.#text;
    if (parent === undefined) return this.#value(undefined, depth + 1, true);
    const isRoot = parent === this.#root;
    // A name with a dot may be the path of a field.
    if (isRoot) for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === DOT) return false;
    if (isRoot && LEFT_OUT.some((name) => isNamed(name, text, from, to))) return this.#leftOut(to - from, depth);
    const member = parent.members.find(({ name }) => isNamed(name, text, from, to));
    if (member === undefined) return this.#value(undefined, depth + 1, true);
    // Of two members of one name JSON takes the last.
    if (member.line === this.#line) return false;
    member.line = this.#line;
    if (member === this.#rule && text.charCodeAt(this.#at) !== OPEN_BRACE) return false;
    const start = this.#at;
    if (!this.#value(member, depth + 1, true)) return false;
    // An object is no value of a field: each would be a tuple of its own, and all say nothing.
    if (member.slot >= 0 && text.charCodeAt(start) !== OPEN_BRACE) {
      this.#from[member.slot] = start;
      this.#to[member.slot] = this.#at;
    }
    return true;
  }

  /** A member that words are not looked for in; the longer one is the time. */
  #leftOut(length: number, depth: number): boolean {
    const start = this.#at;
    const first = this.#text.charCodeAt(start);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return false;
    if (!this.#value(undefined, depth, false)) return false;
    if (length === 'timestamp'.length) {
      if (first !== QUOTE) return false;
      const stamp = this.#text.slice(start + 1, this.#at - 1);
      if (stamp.includes('\\')) return false;
      this.time = timeOfStamp(stamp);
    }
    return true;
  }

  /** @param isKept whether it is the value of a kept field: what lies deeper is none of it, and would make each a tuple of its own */
  #array(depth: number, isSearched: boolean, isKept: boolean): boolean {
    const text = this.#text;
    if (depth > MAX_DEPTH) return false;
    this.#at += 1;
    if (text.charCodeAt(this.#at) === CLOSE_BRACKET) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      const first = text.charCodeAt(this.#at);
      if (isKept && (first === OPEN_BRACE || first === OPEN_BRACKET)) return false;
      if (!this.#value(undefined, depth + 1, isSearched)) return false;
      const end = text.charCodeAt(this.#at);
      this.#at += 1;
      if (end === CLOSE_BRACKET) return true;
      if (end !== COMMA) return false;
    }
  }

  #string(isSearched: boolean): boolean {
    const text = this.#text;
    const from = this.#at + 1;
    let to = text.indexOf('"', from);
    if (to < 0) return false;
    if (this.#isPlain || !isOdd(text, from, to)) {
      this.#at = to + 1;
      if (isSearched) visitWords(text, this.#add, from, to);
      return true;
    }
    while (to >= 0 && isEscaped(text, from, to)) to = text.indexOf('"', to + 1);
    if (to < 0) return false;
    let value: unknown;
    try {
      value = JSON.parse(text.slice(from - 1, to + 1));
    } catch {
      return false;
    }
    this.#at = to + 1;
    if (isSearched && typeof value === 'string') visitWords(value.toLowerCase(), this.#add);
    return typeof value === 'string';
  }

  #number(isSearched: boolean): boolean {
    NUMBER.lastIndex = this.#at;
    const [written] = NUMBER.exec(this.#text) ?? [];
    if (written === undefined) return false;
    this.#at += written.length;
    if (isSearched) visitWords(PLAIN_NUMBER.test(written) ? written : String(Number(written)).toLowerCase(), this.#add);
    return true;
  }

  #word(word: string, isSearched: boolean): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    if (isSearched) visitWords(word, this.#add);
    return true;
  }

  readonly #add = (hash: number): void => {
    if (this.#count === this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[this.#count] = hash;
    this.#count += 1;
  };
}

function memberAt(root: Member, steps: readonly string[]): Member {
  let member = root;
  for (const step of steps) {
    let next = member.members.find(({ name }) => name === step);
    if (next === undefined) member.members.push((next = { name: step, members: [], slot: -1, line: 0 }));
    member = next;
  }
  return member;
}

function isNamed(name: string, text: string, from: number, to: number): boolean {
  return name.length === to - from && text.startsWith(name, from);
}

/** Whether there is an escape, a control character, or one beyond ASCII. */
function isOdd(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === BACKSLASH) return true;
  }
  return false;
}

/** Whether a quote has an odd number of backslashes before it. */
function isEscaped(text: string, from: number, quote: number): boolean {
  let first = quote;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
