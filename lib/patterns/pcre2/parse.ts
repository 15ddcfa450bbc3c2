import { PatternError } from '../pattern-error.js';
import type { AssertionKind, ByteSet, Node, Pattern } from './ast.js';
import {
  addAll,
  ANY,
  complement,
  ESCAPE_CLASSES,
  NOT_NEWLINE,
  POSIX_CLASSES,
  setOf,
  withOtherCase,
} from './byte-sets.js';

type Flags = { i: boolean; s: boolean; m: boolean; x: boolean; U: boolean };
type ClassMember = { readonly byte: number } | { readonly set: ByteSet } | { readonly codePoint: number };

/** Deepest nesting of groups: the parser recurses, and a pattern of brackets must not exhaust the stack. */
const MAX_NESTING = 250;
/** PCRE2's own limit for `{n,m}`. */
const MAX_REPEAT = 65535;
const MAX_PATTERN_BYTES = 65536;
const EMPTY: Node = { kind: 'empty' };

/**
 * Parses a PCRE2 pattern (8-bit, compile options 0; decoding.md 1.4) into its tree.
 * @throws PatternError (code 6, offset) naming what is wrong or not supported
 */
export function parsePcre2(source: string): Pattern {
  if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  #at = 0;
  #flags: Flags = { i: false, s: false, m: false, x: false, U: false };
  #utf = false;
  #captures = 0;
  #depth = 0;
  readonly #names = new Map<string, number>();
  /** References to groups, checked when the number of groups is known. */
  readonly #references: { index: number | string; at: number; resolve: (index: number) => void }[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Pattern {
    this.#verbs();
    const root = this.#alternation();
    if (this.#at < this.#source.length) throw this.#error('Unmatched closing parenthesis');
    for (const { index, at, resolve } of this.#references) {
      const number = typeof index === 'number' ? index : this.#names.get(index);
      if (number === undefined || number > this.#captures || number < 0) {
        throw new PatternError(6, `Reference to a group that does not exist: ${String(index)}`, at);
      }
      resolve(number);
    }
    return { root, captures: this.#captures };
  }

  #error(message: string, at = this.#at): PatternError {
    return new PatternError(6, message, at);
  }

  #peek(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += text.length;
    return true;
  }

  #until(end: string, what: string): string {
    const close = this.#source.indexOf(end, this.#at);
    if (close < 0) throw this.#error(`${what} is not closed`);
    const text = this.#source.slice(this.#at, close);
    this.#at = close + end.length;
    return text;
  }

  /** Verbs at the very start, such as `(*UTF)`. */
  #verbs(): void {
    for (;;) {
      const verb = /^\(\*([A-Z_0-9]+)(=\d+)?\)/.exec(this.#source.slice(this.#at, this.#at + 64));
      if (verb === null) return;
      const name = verb[1] ?? '';
      if (name === 'UTF' || name === 'UTF8') this.#utf = true;
      else if (!['UCP', 'NO_JIT', 'NO_START_OPT', 'NO_AUTO_POSSESS', 'NO_DOTSTAR_ANCHOR', 'LF'].includes(name)) {
        throw this.#error(`Verb (*${name}) is not supported`);
      }
      this.#at += verb[0].length;
    }
  }

  #alternation(): Node {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) throw this.#error('Groups are nested too deeply');
    const outer = { ...this.#flags };
    const branches: Node[] = [this.#sequence()];
    while (this.#take('|')) branches.push(this.#sequence());
    // A setting made inside a group ends with the group (it does carry over into later branches).
    this.#flags = outer;
    this.#depth -= 1;
    return branches.length === 1 ? (branches[0] ?? EMPTY) : { kind: 'alternation', branches };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#source.length && !this.#peek('|') && !this.#peek(')')) {
      if (this.#skipIgnored()) continue;
      const start = this.#at;
      const atom = this.#atom();
      if (atom === undefined) continue;
      const last = atom.pop();
      items.push(...atom);
      if (last !== undefined) items.push(this.#quantified(last, start));
    }
    return items.length === 1 ? (items[0] ?? EMPTY) : items.length === 0 ? EMPTY : { kind: 'sequence', items };
  }

  /** Comments, and with `(?x)` white space and `#` comments. */
  #skipIgnored(): boolean {
    if (this.#take('(?#')) {
      this.#until(')', 'Comment');
      return true;
    }
    if (!this.#flags.x) return false;
    if (/[\t\n\v\f\r ]/.test(this.#source[this.#at] ?? '')) {
      this.#at += 1;
      return true;
    }
    if (this.#take('#')) {
      const end = this.#source.indexOf('\n', this.#at);
      this.#at = end < 0 ? this.#source.length : end + 1;
      return true;
    }
    return false;
  }

  #quantified(body: Node, start: number): Node {
    let node = body;
    for (;;) {
      while (this.#skipIgnored());
      const bounds = this.#bounds();
      if (bounds === undefined) return node;
      if (node.kind === 'assertion' || node.kind === 'empty') {
        if (node.kind === 'empty') throw this.#error('Quantifier does not follow a repeatable item', start);
      }
      let mode: 'greedy' | 'lazy' | 'possessive' = this.#flags.U ? 'lazy' : 'greedy';
      if (this.#take('?')) mode = this.#flags.U ? 'greedy' : 'lazy';
      else if (this.#take('+')) mode = 'possessive';
      node = { kind: 'repeat', body: node, ...bounds, mode };
    }
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    const braces = /^\{(\d+)(,(\d*))?\}/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (braces === null) return undefined;
    const min = Number(braces[1]);
    const max = braces[2] === undefined ? min : braces[3] === '' ? Infinity : Number(braces[3]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) throw this.#error('Number in {} is too large');
    if (max < min) throw this.#error('Numbers in {} are out of order');
    this.#at += braces[0].length;
    return { min, max };
  }

  /** The nodes of the next item; several for `\Q..\E` and code points of more than one byte; undefined for settings. */
  #atom(): Node[] | undefined {
    const char = this.#source[this.#at] ?? '';
    if (char === '(') return this.#group();
    this.#at += 1;
    switch (char) {
      case '[':
        return [this.#class()];
      case '.':
        return [this.#oneOf(this.#flags.s ? ANY : NOT_NEWLINE, true)];
      case '^':
        return [this.#assertion(this.#flags.m ? 'line-start' : 'start')];
      case '$':
        return [this.#assertion(this.#flags.m ? 'line-end' : 'end-or-final-newline')];
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw this.#error('Quantifier does not follow a repeatable item', this.#at - 1);
      default:
        return [this.#literal(char.charCodeAt(0))];
    }
  }

  #assertion(assertion: AssertionKind): Node {
    return { kind: 'assertion', assertion };
  }

  #literal(byte: number): Node {
    const set = new Uint8Array(256);
    set[byte] = 1;
    return { kind: 'set', set: this.#flags.i ? withOtherCase(set) : set };
  }

  #codePoint(codePoint: number): Node[] {
    if (!this.#utf) {
      if (codePoint > 0xff) throw this.#error('Character code is larger than a byte and (*UTF) is not set');
      return [this.#literal(codePoint)];
    }
    if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
      throw this.#error('Character code is not a Unicode scalar value');
    }
    const bytes = [...Buffer.from(String.fromCodePoint(codePoint), 'utf8')].map((byte) => this.#literal(byte));
    return bytes.length === 1 ? bytes : [{ kind: 'sequence', items: bytes }];
  }

  /** One character out of a set; with (*UTF) a set that is open above ASCII takes whole characters. */
  #oneOf(set: ByteSet, openAbove: boolean): Node {
    if (!this.#utf || !openAbove) return { kind: 'set', set };
    const range = (low: number, high: number): Node => ({ kind: 'set', set: setOf((b) => b >= low && b <= high) });
    const tail = range(0x80, 0xbf);
    return {
      kind: 'alternation',
      branches: [
        { kind: 'set', set: setOf((byte) => byte < 0x80 && set[byte] === 1) },
        { kind: 'sequence', items: [range(0xc2, 0xdf), tail] },
        { kind: 'sequence', items: [range(0xe0, 0xef), tail, tail] },
        { kind: 'sequence', items: [range(0xf0, 0xf4), tail, tail, tail] },
      ],
    };
  }

  #escape(): Node[] {
    const at = this.#at - 1;
    const char = this.#source[this.#at];
    if (char === undefined) throw this.#error('\\ at the end of the pattern', at);
    this.#at += 1;
    const classSet = ESCAPE_CLASSES.get(char);
    if (classSet !== undefined) return [this.#oneOf(classSet, char < 'a')];
    switch (char) {
      case 'b':
        return [this.#assertion('word-boundary')];
      case 'B':
        return [this.#assertion('no-word-boundary')];
      case 'A':
      case 'G':
        return [this.#assertion('start')];
      case 'z':
        return [this.#assertion('end')];
      case 'Z':
        return [this.#assertion('end-or-final-newline')];
      case 'K':
        // Moves the start of the reported match, which nobody here looks at.
        return [];
      case 'E':
        return [];
      case 'Q': {
        const end = this.#source.indexOf('\\E', this.#at);
        const text = end < 0 ? this.#source.slice(this.#at) : this.#source.slice(this.#at, end);
        this.#at = end < 0 ? this.#source.length : end + 2;
        return [...text].map((each) => this.#literal(each.charCodeAt(0)));
      }
      case 'R':
        return [this.#lineBreak()];
      case 'N':
        if (this.#take('{U+')) return this.#codePoint(parseInt(this.#until('}', '\\N{U+'), 16));
        return [this.#oneOf(NOT_NEWLINE, true)];
      case 'X':
      case 'C':
        return [this.#oneOf(ANY, char === 'X')];
      case 'p':
      case 'P':
        throw this.#error(`Unicode property \\${char} is not supported`, at);
      case 'k':
        return [this.#namedReference()];
      case 'g':
        return [this.#numberedReference(at)];
      default:
    }
    if (/[1-9]/.test(char)) return this.#digits(at);
    const byte = this.#characterEscape(char, at);
    return this.#codePoint(byte);
  }

  #lineBreak(): Node {
    const set = (bytes: number[]): Node => ({ kind: 'set', set: setOf((byte) => bytes.includes(byte)) });
    const breaks = [set([0x0d]), set([0x0a])];
    const body: Node = {
      kind: 'alternation',
      branches: [{ kind: 'sequence', items: breaks }, set([0x0a, 0x0b, 0x0c, 0x0d, 0x85])],
    };
    return { kind: 'atomic', body };
  }

  /** Escapes that stand for one character, in and outside classes; `at` is the backslash. Returns its code. */
  #characterEscape(char: string, at: number): number {
    switch (char) {
      case 'a':
        return 0x07;
      case 'e':
        return 0x1b;
      case 'f':
        return 0x0c;
      case 'n':
        return 0x0a;
      case 'r':
        return 0x0d;
      case 't':
        return 0x09;
      case 'c': {
        const next = this.#source[this.#at] ?? '';
        if (!/[\x20-\x7e]/.test(next)) throw this.#error('\\c must be followed by a printable ASCII character', at);
        this.#at += 1;
        return next.toUpperCase().charCodeAt(0) ^ 0x40;
      }
      case 'x': {
        if (this.#take('{')) {
          const digits = this.#until('}', '\\x{');
          if (!/^[0-9a-fA-F]{1,8}$/.test(digits)) throw this.#error('\\x{} needs hexadecimal digits', at);
          return parseInt(digits, 16);
        }
        const digits = /^[0-9a-fA-F]{0,2}/.exec(this.#source.slice(this.#at, this.#at + 2))?.[0] ?? '';
        this.#at += digits.length;
        return digits === '' ? 0 : parseInt(digits, 16);
      }
      case 'o': {
        if (!this.#take('{')) throw this.#error('\\o must be followed by {', at);
        const digits = this.#until('}', '\\o{');
        if (!/^[0-7]{1,7}$/.test(digits)) throw this.#error('\\o{} needs octal digits', at);
        return parseInt(digits, 8);
      }
      case '0': {
        const digits = /^[0-7]{0,2}/.exec(this.#source.slice(this.#at, this.#at + 2))?.[0] ?? '';
        this.#at += digits.length;
        return parseInt('0' + digits, 8);
      }
      default:
        if (/[A-Za-z0-9]/.test(char)) throw this.#error(`Escape \\${char} is not recognised`, at);
        return char.charCodeAt(0);
    }
  }

  /** `\1`..: a back-reference, or an octal code when there are not that many groups (PCRE2's rule). */
  #digits(at: number): Node[] {
    const digits = /^\d+/.exec(this.#source.slice(at + 1, at + 12))?.[0] ?? '';
    const number = Number(digits);
    if (number < 10 || number <= this.#countGroups()) {
      this.#at = at + 1 + digits.length;
      return [this.#reference(number, at)];
    }
    const octal = /^[0-3]?[0-7]{1,2}/.exec(digits)?.[0];
    if (octal === undefined) throw this.#error(`Reference to a group that does not exist: ${digits}`, at);
    this.#at = at + 1 + octal.length;
    return this.#codePoint(parseInt(octal, 8));
  }

  #countGroups(): number {
    return (this.#source.match(/(?<!\\)\((?!\?(?!P?<(?![=!])|'))(?!\*)/g) ?? []).length;
  }

  #reference(index: number | string, at: number): Node {
    const node = { kind: 'back-reference' as const, index: 0, fold: this.#flags.i };
    this.#references.push({ index, at, resolve: (number) => (node.index = number) });
    return node;
  }

  #call(index: number | string, at: number): Node {
    const node = { kind: 'call' as const, index: 0 };
    this.#references.push({ index, at, resolve: (number) => (node.index = number) });
    return node;
  }

  #namedReference(): Node {
    const at = this.#at;
    if (this.#take('{')) return this.#reference(this.#until('}', '\\k{'), at);
    if (this.#take('<')) return this.#reference(this.#until('>', '\\k<'), at);
    if (this.#take("'")) return this.#reference(this.#until("'", "\\k'"), at);
    throw this.#error('\\k must be followed by a name');
  }

  #numberedReference(at: number): Node {
    if (this.#take('<') || this.#take("'")) {
      const text = this.#until(this.#source[this.#at - 1] === '<' ? '>' : "'", '\\g');
      return this.#call(/^[+-]?\d+$/.test(text) ? this.#relative(text) : text, at);
    }
    const text = this.#take('{')
      ? this.#until('}', '\\g{')
      : (/^-?\d+/.exec(this.#source.slice(this.#at, this.#at + 8))?.[0] ?? '');
    if (text === '') throw this.#error('\\g must be followed by a group', at);
    if (this.#source[this.#at - 1] !== '}') this.#at += text.length;
    return this.#reference(/^[+-]?\d+$/.test(text) ? this.#relative(text) : text, at);
  }

  #relative(text: string): number {
    const number = Number(text);
    if (text.startsWith('-')) return this.#captures + 1 + number;
    if (text.startsWith('+')) return this.#captures + number;
    return number;
  }

  #group(): Node[] | undefined {
    const at = this.#at;
    this.#at += 1;
    if (this.#peek('*')) {
      const verb = this.#until(')', 'Verb').slice(1);
      throw this.#error(`Verb (*${verb}) is not supported here`, at);
    }
    if (!this.#take('?')) return [this.#capture()];
    if (this.#take(':')) return [this.#closed(this.#alternation(), at)];
    if (this.#take('>')) return [{ kind: 'atomic', body: this.#closed(this.#alternation(), at) }];
    if (this.#take('|')) throw this.#error('Branch reset (?| is not supported', at);
    if (this.#take('=')) return [this.#look(false, false, at)];
    if (this.#take('!')) return [this.#look(false, true, at)];
    if (this.#take('<=')) return [this.#look(true, false, at)];
    if (this.#take('<!')) return [this.#look(true, true, at)];
    if (this.#take('P<') || this.#take('<')) return [this.#capture(this.#until('>', 'Group name'))];
    if (this.#take("'")) return [this.#capture(this.#until("'", 'Group name'))];
    if (this.#take('P=')) return [this.#reference(this.#until(')', '(?P='), at)];
    if (this.#take('P>') || this.#take('&')) return [this.#call(this.#until(')', 'Group call'), at)];
    if (this.#take('(')) return [this.#conditional(at)];
    const call = /^(R|[+-]?\d+)\)/.exec(this.#source.slice(this.#at, this.#at + 12));
    if (call !== null) {
      this.#at += call[0].length;
      const text = call[1] ?? '';
      return [this.#call(text === 'R' ? 0 : this.#relative(text), at)];
    }
    return this.#settings(at);
  }

  #closed<T>(node: T, at: number): T {
    if (!this.#take(')')) throw this.#error('Group is not closed', at);
    return node;
  }

  #capture(name?: string): Node {
    const at = this.#at;
    this.#captures += 1;
    const index = this.#captures;
    if (name !== undefined) {
      if (!/^[A-Za-z_]\w{0,31}$/.test(name)) throw this.#error(`Group name '${name}' is not valid`, at);
      if (this.#names.has(name)) throw this.#error(`Group name '${name}' is used twice`, at);
      this.#names.set(name, index);
    }
    return { kind: 'capture', index, body: this.#closed(this.#alternation(), at) };
  }

  #look(behind: boolean, negative: boolean, at: number): Node {
    return { kind: 'look', behind, negative, body: this.#closed(this.#alternation(), at) };
  }

  #conditional(at: number): Node {
    let condition: number | Node = 0;
    let named: string | undefined;
    if (/^\?<?[=!]/.test(this.#source.slice(this.#at, this.#at + 3))) {
      this.#at -= 1;
      condition = this.#group()?.[0] ?? EMPTY;
    } else {
      const text = this.#until(')', 'Condition').replace(/^[<']|[>']$/g, '');
      if (/^[+-]?\d+$/.test(text)) condition = this.#relative(text);
      else if (text === 'DEFINE' || text.startsWith('R')) throw this.#error(`Condition (${text}) is not supported`, at);
      else named = text;
    }
    const body = this.#closed(this.#alternation(), at);
    const branches = body.kind === 'alternation' ? body.branches : [body];
    if (branches.length > 2) throw this.#error('Condition has more than two branches', at);
    const node = { kind: 'conditional' as const, condition, yes: branches[0] ?? EMPTY, no: branches[1] ?? EMPTY };
    if (named !== undefined || typeof condition === 'number') {
      const index = named ?? (typeof condition === 'number' ? condition : 0);
      this.#references.push({ index, at, resolve: (number) => (node.condition = number) });
    }
    return node;
  }

  /** `(?i)`, `(?i-s:...)`, `(?^)`. A setting without a body holds to the end of the group around it. */
  #settings(at: number): Node[] | undefined {
    const text = /^(\^?[imsxUnJ]*)(-[imsxUnJ]+)?([:)])/.exec(this.#source.slice(this.#at, this.#at + 32));
    if (text === null) throw this.#error('Unrecognised character after (?', at);
    this.#at += text[0].length;
    const before = { ...this.#flags };
    const flags = text[1]?.startsWith('^') === true ? { i: false, s: false, m: false, x: false, U: before.U } : before;
    const change = (names: string, value: boolean): void => {
      for (const name of names) {
        if (name === 'n' || name === 'J') throw this.#error(`Setting (?${name}) is not supported`, at);
        if (name in flags) flags[name as keyof Flags] = value;
      }
    };
    const outer = { ...this.#flags };
    change((text[1] ?? '').replace('^', ''), true);
    change((text[2] ?? '').replace('-', ''), false);
    this.#flags = { ...flags };
    if (text[3] === ')') return undefined;
    const node = this.#closed(this.#alternation(), at);
    this.#flags = outer;
    return [node];
  }

  #class(): Node {
    const at = this.#at - 1;
    const negated = this.#take('^');
    const set = new Uint8Array(256);
    const wide: number[] = [];
    let first = true;
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) throw this.#error('Class is not closed', at);
      if (char === ']' && !first) break;
      first = false;
      if (this.#take('\\Q')) {
        const end = this.#source.indexOf('\\E', this.#at);
        const text = end < 0 ? this.#source.slice(this.#at) : this.#source.slice(this.#at, end);
        for (const each of text) set[each.charCodeAt(0)] = 1;
        this.#at = end < 0 ? this.#source.length : end + 2;
        continue;
      }
      if (this.#take('\\E')) continue;
      const low = this.#classMember(at);
      if ('set' in low) {
        addAll(set, low.set);
        continue;
      }
      const lowCode = 'byte' in low ? low.byte : low.codePoint;
      let highCode = lowCode;
      if (this.#peek('-') && this.#source[this.#at + 1] !== ']' && this.#at + 1 < this.#source.length) {
        const dash = this.#at;
        this.#at += 1;
        const high = this.#classMember(at);
        if ('set' in high) {
          set[0x2d] = 1;
          addAll(set, high.set);
        } else {
          highCode = 'byte' in high ? high.byte : high.codePoint;
          if (highCode < lowCode) throw this.#error('Range in class is out of order', dash);
        }
      }
      for (let code = lowCode; code <= highCode; code += 1) {
        if (code <= 0xff && !(this.#utf && code > 0x7f)) set[code] = 1;
        else if (this.#utf && wide.length < 256) wide.push(code);
        else throw this.#error('Character code in class is too large', at);
      }
    }
    this.#at += 1;
    const folded = this.#flags.i ? withOtherCase(set) : set;
    if (!negated) {
      if (wide.length === 0) return { kind: 'set', set: folded };
      const sequences = wide.map((code): Node => ({ kind: 'sequence', items: this.#codePoint(code) }));
      return { kind: 'alternation', branches: [{ kind: 'set', set: folded }, ...sequences] };
    }
    const outside = this.#oneOf(complement(folded), true);
    if (wide.length === 0) return outside;
    const sequences = wide.map((code): Node => ({ kind: 'sequence', items: this.#codePoint(code) }));
    const notWide: Node = {
      kind: 'look',
      behind: false,
      negative: true,
      body: { kind: 'alternation', branches: sequences },
    };
    return { kind: 'sequence', items: [notWide, outside] };
  }

  #classMember(at: number): ClassMember {
    const char = this.#source[this.#at] ?? '';
    if (char === '[') {
      const posix = /^\[([:.=])(\^?)(\w*)\1\]/.exec(this.#source.slice(this.#at, this.#at + 24));
      if (posix !== null) {
        if (posix[1] !== ':') throw this.#error('POSIX collating elements are not supported');
        const set = POSIX_CLASSES.get(posix[3] ?? '');
        if (set === undefined) throw this.#error(`Unknown POSIX class name '${posix[3] ?? ''}'`);
        this.#at += posix[0].length;
        return { set: posix[2] === '^' ? complement(set) : set };
      }
    }
    this.#at += 1;
    if (char !== '\\') return this.#classCharacter(char);
    const escaped = this.#source[this.#at];
    if (escaped === undefined) throw this.#error('Class is not closed', at);
    this.#at += 1;
    const set = ESCAPE_CLASSES.get(escaped);
    if (set !== undefined) return { set };
    if (escaped === 'b') return { byte: 0x08 };
    if (escaped === 'N' && this.#take('{U+')) return { codePoint: parseInt(this.#until('}', '\\N{U+'), 16) };
    if (['B', 'R', 'X', 'N'].includes(escaped))
      throw this.#error(`\\${escaped} is not allowed in a class`, this.#at - 2);
    if (/[1-7]/.test(escaped)) {
      const octal = /^[0-3]?[0-7]{1,2}/.exec(this.#source.slice(this.#at - 1, this.#at + 2))?.[0] ?? escaped;
      this.#at += octal.length - 1;
      return { codePoint: parseInt(octal, 8) };
    }
    return { codePoint: this.#characterEscape(escaped, this.#at - 2) };
  }

  /** A plain character in a class; with (*UTF) a whole UTF-8 sequence of the pattern. */
  #classCharacter(char: string): ClassMember {
    const byte = char.charCodeAt(0);
    if (!this.#utf || byte < 0xc2) return { byte };
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    const text = Buffer.from(this.#source.slice(this.#at - 1, this.#at - 1 + length), 'latin1').toString('utf8');
    this.#at += length - 1;
    return { codePoint: text.codePointAt(0) ?? byte };
  }
}
