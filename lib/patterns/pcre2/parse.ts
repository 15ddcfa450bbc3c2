import { PatternError } from '../pattern-error.js';
import {
  type AssertionKind,
  EMPTY,
  type GroupCondition,
  type LookNode,
  type Pattern,
  type PatternNode,
} from './ast.js';
import { CharacterParser } from './parse-character.js';
import { PatternReader } from './pattern-reader.js';

/** Deepest nesting of groups, PCRE2's own default: a pattern of brackets must not exhaust the stack. */
const MAX_NESTING = 250;
/** PCRE2's own limit for `{n,m}`. */
const MAX_REPEAT = 65535;
/** Longest pattern, bytes; PCRE2 refuses what compiles to more than 64 KB. */
const MAX_PATTERN_BYTES = 65536;
/** PCRE2's own limit. */
const MAX_NAME = 32;

/** Verbs at the start that ask for what is in force anyway, or tune the library. */
const HARMLESS_VERBS = /\(\*(?:NO_JIT|NO_START_OPT|NO_AUTO_POSSESS|NO_DOTSTAR_ANCHOR|LF|BSR_UNICODE|LIMIT_\w+=\d+)\)/y;

/** `{n}`, `{n,}` and `{n,m}`; any other brace stands for itself. */
const COUNTS = /\{(\d+)(,(\d*))?\}/y;

type Flags = {
  /** Case-insensitive. */
  readonly i: boolean;
  /** `.` takes newlines. */
  readonly s: boolean;
  /** `^` and `$` at lines. */
  readonly m: boolean;
  /** White space and comments are ignored; `xx`: blanks in classes too. */
  readonly x: '' | 'x' | 'xx';
  /** Greediness is inverted. */
  readonly U: boolean;
  /** Plain groups do not capture. */
  readonly n: boolean;
};

/**
 * Parses a PCRE2 pattern (8-bit, compile options 0; decoding.md 1.4) into its tree.
 * @throws PatternError (code 3 or 6, offset) naming what is wrong, or the construct that is not supported
 */
export function parsePcre2(source: string): Pattern {
  if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
  return new Parser(source).parse();
}

class Parser {
  readonly #reader: PatternReader;
  readonly #characters: CharacterParser;
  #flags: Flags = { i: false, s: false, m: false, x: '', U: false, n: false };
  /** Groups opened so far. */
  #captures = 0;
  #depth = 0;
  /** Look-arounds that are open. */
  #looks = 0;
  /** Whether a quantifier may follow the item read last. */
  #repeatable = true;
  readonly #names = new Map<string, number>();
  /** References to groups, looked up when all groups are known. */
  readonly #references: {
    readonly index: number | string;
    readonly at: number;
    readonly set: (index: number) => void;
  }[] = [];

  constructor(source: string) {
    this.#reader = new PatternReader(source);
    this.#characters = new CharacterParser(this.#reader);
  }

  parse(): Pattern {
    const reader = this.#reader;
    while (reader.peek('(*') && this.#startVerb());
    const root = this.#alternation();
    if (!reader.done) throw reader.error('Unmatched closing parenthesis');
    for (const { index, at, set } of this.#references) {
      const number = typeof index === 'number' ? index : this.#names.get(index);
      if (number === undefined || number > this.#captures || number < 0) {
        throw reader.error(`Reference to a group that does not exist: ${String(index)}`, at);
      }
      set(number);
    }
    return { root, captures: this.#captures, utf: this.#characters.utf };
  }

  #startVerb(): boolean {
    const reader = this.#reader;
    if (reader.take('(*UTF)') || reader.take('(*UTF8)')) {
      this.#characters.utf = true;
      return true;
    }
    return reader.takeMatch(HARMLESS_VERBS) !== undefined;
  }

  /** Alternatives up to a closing parenthesis or the end. With `reset` each one counts its groups from the same number. */
  #alternation(reset = false): PatternNode {
    const reader = this.#reader;
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) throw reader.error('Groups are nested too deeply');
    const outer = this.#flags;
    const first = this.#captures;
    let most = first;
    const branches: PatternNode[] = [];
    do {
      if (reset) this.#captures = first;
      branches.push(this.#sequence());
      most = Math.max(most, this.#captures);
    } while (reader.take('|'));
    this.#captures = most;
    // A setting made inside a group ends with the group; it does carry over into later alternatives.
    this.#flags = outer;
    this.#depth -= 1;
    return branches.length === 1 ? (branches[0] ?? EMPTY) : { kind: 'alternation', branches };
  }

  #sequence(): PatternNode {
    const reader = this.#reader;
    const items: PatternNode[] = [];
    while (!reader.done && !reader.peek('|') && !reader.peek(')')) {
      if (this.#skipIgnored()) continue;
      const atoms = this.#atoms();
      const last = atoms.pop();
      items.push(...atoms);
      if (last !== undefined) items.push(this.#quantified(last, this.#repeatable));
    }
    return items.length === 1 ? (items[0] ?? EMPTY) : items.length === 0 ? EMPTY : { kind: 'sequence', items };
  }

  /** Comments, and with `(?x)` white space and `#` comments. */
  #skipIgnored(): boolean {
    const reader = this.#reader;
    if (reader.take('(?#')) {
      reader.until(')', 'Comment');
      return true;
    }
    return this.#flags.x !== '' && reader.takeMatch(/[\t\n\v\f\r ]+|#[^\n]*\n?/y) !== undefined;
  }

  #quantified(body: PatternNode, repeatable: boolean): PatternNode {
    const reader = this.#reader;
    while (this.#skipIgnored() || reader.take('\\E'));
    const start = reader.at;
    const bounds = this.#bounds();
    if (bounds === undefined) return body;
    if (!repeatable) throw reader.error('Quantifier does not follow a repeatable item', start);
    const possessive = reader.take('+');
    const swapped = !possessive && reader.take('?');
    const mode = possessive ? 'possessive' : swapped === this.#flags.U ? 'greedy' : 'lazy';
    return { kind: 'repeat', body, ...bounds, mode };
  }

  #bounds(): { min: number; max: number } | undefined {
    const reader = this.#reader;
    if (reader.take('*')) return { min: 0, max: Infinity };
    if (reader.take('+')) return { min: 1, max: Infinity };
    if (reader.take('?')) return { min: 0, max: 1 };
    const braces = reader.takeMatch(COUNTS);
    if (braces === undefined) return undefined;
    const min = Number(braces[1]);
    const max = braces[2] === undefined ? min : braces[3] === '' ? Infinity : Number(braces[3]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) throw reader.error('Number in {} is too large');
    if (max < min) throw reader.error('Numbers in {} are out of order');
    return { min, max };
  }

  /** The nodes of the next item: none for settings, several for `\Q..\E`, where a quantifier belongs to the last one. */
  #atoms(): PatternNode[] {
    const reader = this.#reader;
    const at = reader.at;
    const char = reader.next();
    this.#repeatable = true;
    switch (char) {
      case '(': {
        const nodes = this.#group(at);
        this.#repeatable = !(nodes.length === 1 && nodes[0]?.kind === 'fail');
        return nodes;
      }
      case '[':
        return [this.#characters.charClass(at, this.#flags.i, this.#flags.x === 'xx')];
      case '.':
        return [this.#characters.outside(this.#flags.s ? [] : [[0x0a, 0x0a]])];
      case '^':
        return this.#assertion(this.#flags.m ? 'line-start' : 'start');
      case '$':
        return this.#assertion(this.#flags.m ? 'line-end' : 'end-or-final-newline');
      case '\\':
        return this.#escape(at);
      case '*':
      case '+':
      case '?':
        throw reader.error('Quantifier does not follow a repeatable item', at);
      case '{':
        reader.at = at;
        if (reader.takeMatch(COUNTS) !== undefined) {
          throw reader.error('Quantifier does not follow a repeatable item', at);
        }
        reader.at = at + 1;
        return [this.#characters.literal(char, at, false)];
      default:
        return [this.#characters.literal(char, at, this.#flags.i)];
    }
  }

  #assertion(assertion: AssertionKind): PatternNode[] {
    this.#repeatable = false;
    return [{ kind: 'assertion', assertion }];
  }

  #escape(at: number): PatternNode[] {
    const reader = this.#reader;
    const char = reader.source.charAt(reader.at);
    const named = ASSERTIONS.get(char);
    if (named !== undefined) {
      reader.at += 1;
      return this.#assertion(named);
    }
    switch (char) {
      case 'K':
        // Moves the start of the reported match, which nobody here looks at.
        if (this.#looks > 0) throw reader.error('\\K is not allowed in look-arounds', at);
        reader.at += 1;
        this.#repeatable = false;
        return [EMPTY];
      case 'E':
        reader.at += 1;
        return [];
      case 'Q': {
        reader.at += 1;
        const close = reader.source.indexOf('\\E', reader.at);
        const end = close < 0 ? reader.source.length : close;
        const nodes: PatternNode[] = [];
        while (reader.at < end) {
          const start = reader.at;
          nodes.push(this.#characters.literal(reader.next(), start, this.#flags.i));
        }
        reader.take('\\E');
        return nodes;
      }
      case 'k':
        reader.at += 1;
        return [this.#reference(this.#delimitedName('\\k'), at)];
      case 'g':
        reader.at += 1;
        return [this.#numberedReference(at)];
      default: {
        const number = this.#backReferenceNumber();
        if (number !== undefined) return [this.#reference(number, at)];
        return [this.#characters.escape(at, this.#flags.i)];
      }
    }
  }

  /** `\1`..: a reference when below 10, or when that many groups are open already; otherwise an octal code. */
  #backReferenceNumber(): number | undefined {
    const reader = this.#reader;
    const start = reader.at;
    const digits = reader.takeMatch(/[1-9]\d{0,5}/y)?.[0];
    if (digits === undefined) return undefined;
    const number = Number(digits);
    if (number < 10 || /^[89]/.test(digits) || number <= this.#captures) return number;
    reader.at = start;
    return undefined;
  }

  #reference(index: number | string, at: number): PatternNode {
    if (index === 0) throw this.#reader.error('Reference to group 0', at);
    const node = { kind: 'back-reference' as const, index: 0, fold: this.#flags.i };
    this.#references.push({ index, at, set: (number) => (node.index = number) });
    return node;
  }

  #call(index: number | string, at: number): PatternNode {
    const node = { kind: 'call' as const, index: 0 };
    this.#references.push({ index, at, set: (number) => (node.index = number) });
    return node;
  }

  #delimitedName(what: string): string {
    const reader = this.#reader;
    for (const [open, close] of [
      ['{', '}'],
      ['<', '>'],
      ["'", "'"],
    ] as const) {
      if (reader.take(open)) return reader.until(close, what);
    }
    throw reader.error(`${what} must be followed by a name`);
  }

  /** `\g1`, `\g{-1}`, `\g{name}` refer; `\g<1>`, `\g'name'` call. */
  #numberedReference(at: number): PatternNode {
    const reader = this.#reader;
    if (reader.peek('<') || reader.peek("'")) return this.#call(this.#numberOrName(this.#delimitedName('\\g'), at), at);
    const text = reader.peek('{') ? this.#delimitedName('\\g') : reader.takeMatch(/[+-]?\d{1,6}/y)?.[0];
    if (text === undefined) throw reader.error('\\g must be followed by a group', at);
    return this.#reference(this.#numberOrName(text, at), at);
  }

  #numberOrName(text: string, at: number): number | string {
    if (!/^[+-]?\d{1,6}$/.test(text)) return text;
    const number = Number(text);
    if (text.startsWith('-') || text.startsWith('+')) {
      const absolute = this.#captures + number + (number < 0 ? 1 : 0);
      if (number === 0 || absolute < 1) {
        throw this.#reader.error(`Reference to a group that does not exist: ${text}`, at);
      }
      return absolute;
    }
    return number;
  }

  #group(at: number): PatternNode[] {
    const reader = this.#reader;
    if (reader.peek('*')) return [this.#verb(at)];
    if (!reader.take('?')) return [this.#flags.n ? this.#closed(this.#alternation(), at) : this.#capture(at)];
    if (reader.take(':')) return [this.#closed(this.#alternation(), at)];
    if (reader.take('|')) return [this.#closed(this.#alternation(true), at)];
    if (reader.take('>')) return [{ kind: 'atomic', body: this.#closed(this.#alternation(), at) }];
    const look = this.#look(at);
    if (look !== undefined) return [look];
    if (reader.take('P<') || reader.take('<')) return [this.#capture(at, reader.until('>', 'Group name'))];
    if (reader.take("'")) return [this.#capture(at, reader.until("'", 'Group name'))];
    if (reader.take('P=')) return [this.#reference(reader.until(')', '(?P='), at)];
    if (reader.take('P>') || reader.take('&')) return [this.#call(reader.until(')', 'Group call'), at)];
    if (reader.take('(')) return [this.#conditional(at)];
    if (reader.take('R)')) return [this.#call(0, at)];
    if (reader.peek('C')) throw reader.error('Callouts (?C) are not supported', at);
    const call = reader.takeMatch(/([+-]?\d{1,6})\)/y);
    if (call !== undefined) return [this.#call(this.#numberOrName(call[1] ?? '', at), at)];
    return this.#settings(at);
  }

  #verb(at: number): PatternNode {
    const reader = this.#reader;
    if (reader.take('*FAIL)') || reader.take('*F)')) return { kind: 'fail' };
    throw reader.error(`Verb (*${reader.until(')', 'Verb').slice(1)}) is not supported here`, at);
  }

  #closed<T>(node: T, at: number): T {
    if (!this.#reader.take(')')) throw this.#reader.error('Group is not closed', at);
    return node;
  }

  #capture(at: number, name?: string): PatternNode {
    this.#captures += 1;
    const index = this.#captures;
    if (name !== undefined) {
      if (!/^[A-Za-z_]\w*$/.test(name) || name.length > MAX_NAME) {
        throw this.#reader.error(`Group name '${name}' is not valid`, at);
      }
      const known = this.#names.get(name);
      if (known !== undefined && known !== index) throw this.#reader.error(`Group name '${name}' is used twice`, at);
      this.#names.set(name, index);
    }
    return { kind: 'capture', index, body: this.#closed(this.#alternation(), at) };
  }

  #look(at: number): LookNode | undefined {
    const reader = this.#reader;
    for (const [start, behind, negative] of LOOKS) {
      if (reader.take(start)) {
        this.#looks += 1;
        const body = this.#closed(this.#alternation(), at);
        this.#looks -= 1;
        return { kind: 'look', behind, negative, body };
      }
    }
    return undefined;
  }

  /** Behind `(?(`. */
  #conditional(at: number): PatternNode {
    const reader = this.#reader;
    const node: { kind: 'conditional'; condition: GroupCondition; yes: PatternNode; no: PatternNode } = {
      kind: 'conditional',
      condition: { kind: 'never' },
      yes: EMPTY,
      no: EMPTY,
    };
    let isDefinition = false;
    if (reader.take('?')) {
      const look = this.#look(at);
      if (look === undefined) throw reader.error('A condition must be a group or an assertion', at);
      node.condition = { kind: 'look', look };
    } else {
      const text = reader.until(')', 'Condition');
      isDefinition = text === 'DEFINE' && !this.#names.has(text);
      if (!isDefinition) this.#groupCondition(text, at, (condition) => (node.condition = condition));
    }
    const body = this.#closed(this.#alternation(), at);
    const branches = body.kind === 'alternation' ? body.branches : [body];
    if (branches.length > (isDefinition ? 1 : 2)) throw reader.error('Conditional group has too many branches', at);
    node.yes = branches[0] ?? EMPTY;
    node.no = branches[1] ?? EMPTY;
    return node;
  }

  #groupCondition(text: string, at: number, set: (condition: GroupCondition) => void): void {
    const inCall = /^R(?:(\d{1,6})|&(\w+))?$/.exec(text);
    const [, number, name] = inCall ?? [];
    if (inCall !== null && number === undefined && name === undefined) {
      set({ kind: 'in-call', index: undefined });
      return;
    }
    if (inCall !== null) {
      const index = name ?? Number(number);
      this.#references.push({ index, at, set: (group) => set({ kind: 'in-call', index: group }) });
      return;
    }
    if (text.startsWith('VERSION')) throw this.#reader.error('Condition (VERSION) is not supported', at);
    const index = this.#numberOrName(text.replace(/^<(.*)>$|^'(.*)'$/, '$1$2'), at);
    this.#references.push({ index, at, set: (group) => set({ kind: 'group-set', index: group }) });
  }

  /** `(?i)`, `(?i-s:...)`, `(?^)`. A setting without a body holds to the end of the group around it. */
  #settings(at: number): PatternNode[] {
    const reader = this.#reader;
    const text = reader.takeMatch(/(\^?)([imsxUnJ]*)(?:-([imsxUnJ]*))?([:)])/y);
    if (text === undefined) throw reader.error('Unrecognised character after (?', at);
    const [, caret = '', on = '', off = '', end] = text;
    if (on.includes('J') || off.includes('J')) throw reader.error('Setting (?J) is not supported', at);
    const before = this.#flags;
    const base: Flags = caret === '' ? before : { ...before, i: false, s: false, m: false, x: '', n: false };
    const value = (name: 'i' | 's' | 'm' | 'U' | 'n'): boolean =>
      (base[name] || on.includes(name)) && !off.includes(name);
    this.#flags = {
      i: value('i'),
      s: value('s'),
      m: value('m'),
      U: value('U'),
      n: value('n'),
      x: off.includes('x') ? '' : on.includes('xx') ? 'xx' : on.includes('x') ? 'x' : base.x,
    };
    if (end === ')') return [];
    const node = this.#closed(this.#alternation(), at);
    this.#flags = before;
    return [node];
  }
}

const ASSERTIONS: ReadonlyMap<string, AssertionKind> = new Map([
  ['b', 'word-boundary'],
  ['B', 'no-word-boundary'],
  ['A', 'start'],
  ['G', 'start'],
  ['z', 'end'],
  ['Z', 'end-or-final-newline'],
]);

const LOOKS = [
  ['=', false, false],
  ['!', false, true],
  ['<=', true, false],
  ['<!', true, true],
] as const;
