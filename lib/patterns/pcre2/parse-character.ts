import type { PatternNode } from './ast.js';
import { ESCAPE_CLASSES, POSIX_CLASSES, VERTICAL } from './character-classes.js';
import {
  byteNode,
  type CodePoints,
  codePointsOf,
  normalised,
  outside,
  utf8Node,
  withOtherCase,
  withUnicodeCases,
} from './code-points.js';
import type { PatternReader } from './pattern-reader.js';

/** Parses single characters, escapes for characters and character classes, in byte or UTF mode. */
export class CharacterParser {
  /** Whether `(*UTF)` is set: one character is one code point, as a sequence of bytes. */
  utf = false;
  readonly #reader: PatternReader;
  /** Nodes of case-insensitive characters in UTF mode; finding the cases is slow. */
  readonly #folded = new Map<number, PatternNode>();

  constructor(reader: PatternReader) {
    this.#reader = reader;
  }

  /** A character of the pattern that stands for itself; `char` has been read at `at`. */
  literal(char: string, at: number, fold: boolean): PatternNode {
    return this.#one(this.#wholeCharacter(char, at), fold);
  }

  /** One character that is not in the ranges. */
  outside(ranges: CodePoints): PatternNode {
    return this.#node(outside(ranges));
  }

  /** An escape that stands for one character or a class; the reader is behind the backslash at `at`. */
  escape(at: number, fold: boolean): PatternNode {
    const reader = this.#reader;
    if (reader.done) throw reader.error('\\ at the end of the pattern', at);
    const char = reader.source.charAt(reader.at);
    const ranges = this.#escapedClass(at);
    if (ranges !== undefined) return this.#node(ranges);
    switch (char) {
      case 'N':
        reader.at += 1;
        return reader.peek('{U+') ? this.#one(this.#codePoint(at), fold) : this.outside([[0x0a, 0x0a]]);
      case 'R':
        reader.at += 1;
        return { kind: 'atomic', body: this.#lineBreak() };
      case 'C':
        if (this.utf) throw reader.error('\\C is not supported together with (*UTF)', at);
        reader.at += 1;
        return byteNode([[0, 0xff]]);
      case 'X':
        if (this.utf) throw reader.error('\\X is not supported together with (*UTF)', at);
        reader.at += 1;
        return { kind: 'atomic', body: { kind: 'alternation', branches: [this.#crLf(), byteNode([[0, 0xff]])] } };
      default:
        return this.#one(this.#character(at), fold);
    }
  }

  /** A class; the reader is behind its `[` at `at`. */
  charClass(at: number, fold: boolean, ignoreBlanks: boolean): PatternNode {
    const reader = this.#reader;
    if (/^\[([:.=])[^\]]*\1\]/.test(reader.source.slice(at, at + 32))) {
      throw reader.error('POSIX classes are allowed only within a class', at);
    }
    const negated = reader.take('^');
    const ranges: (readonly [number, number])[] = [];
    let quoted = false;
    for (let first = true; ; first = false) {
      if (reader.done) throw reader.error('Class is not closed', at);
      if (reader.take(quoted ? '\\E' : '\\Q')) {
        quoted = !quoted;
        continue;
      }
      if (!quoted && reader.take('\\E')) continue;
      if (!quoted && ignoreBlanks && reader.takeMatch(/[ \t]+/y) !== undefined) continue;
      if (!quoted && !first && reader.take(']')) break;
      const low = this.#member(quoted);
      if (typeof low !== 'number') {
        ranges.push(...low);
        continue;
      }
      const dash = reader.at;
      if (quoted || !reader.peek('-') || reader.source.startsWith('-]', dash) || dash + 1 >= reader.source.length) {
        ranges.push([low, low]);
        continue;
      }
      reader.at += 1;
      const high = this.#member(false);
      if (typeof high !== 'number') {
        ranges.push([low, low], [0x2d, 0x2d], ...high);
      } else {
        if (high < low) throw reader.error('Range in class is out of order', dash);
        ranges.push([low, high]);
      }
    }
    const plain = normalised(ranges);
    const members = !fold ? plain : this.utf ? withUnicodeCases(plain) : withOtherCase(plain);
    return this.#node(negated ? outside(members) : members);
  }

  #node(ranges: CodePoints): PatternNode {
    if (this.utf) return utf8Node(ranges);
    let node = CLASS_NODES.get(ranges);
    if (node === undefined) CLASS_NODES.set(ranges, (node = byteNode(ranges)));
    return node;
  }

  #one(code: number, fold: boolean): PatternNode {
    if (!this.utf) return code > 0xff ? byteNode([]) : sharedByteNode(code, fold);
    const ranges: CodePoints = [[code, code]];
    if (!fold) return utf8Node(ranges);
    let node = this.#folded.get(code);
    if (node === undefined) {
      node = utf8Node(withUnicodeCases(ranges));
      this.#folded.set(code, node);
    }
    return node;
  }

  /** In UTF mode the character that begins with the byte `char`, whose other bytes are read here. */
  #wholeCharacter(char: string, at: number): number {
    const byte = char.charCodeAt(0);
    if (!this.utf || byte < 0x80) return byte;
    const reader = this.#reader;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    const bytes = Buffer.from(reader.source.slice(at, at + length), 'latin1');
    const text = bytes.toString('utf8');
    const code = text.codePointAt(0) ?? 0xfffd;
    if (Buffer.from(String.fromCodePoint(code), 'utf8').compare(bytes) !== 0) {
      throw reader.error('Pattern is not UTF-8, which (*UTF) asks for', at);
    }
    reader.at = at + length;
    return code;
  }

  /** A member of a class: a character, or the ranges of a class inside. */
  #member(quoted: boolean): number | CodePoints {
    const reader = this.#reader;
    const at = reader.at;
    if (!quoted && reader.peek('[')) {
      const posix = reader.takeMatch(/\[([:.=])(\^?)(\w*)\1\]/y);
      if (posix !== undefined) {
        const [, type, caret, name = ''] = posix;
        if (type !== ':') throw reader.error('POSIX collating elements are not supported', at);
        const ranges = POSIX_CLASSES.get(name);
        if (ranges === undefined) throw reader.error(`Unknown POSIX class name '${name}'`, at);
        return caret === '^' ? outside(normalised(ranges)) : ranges;
      }
    }
    const char = reader.next();
    if (quoted || char !== '\\') return this.#wholeCharacter(char, at);
    if (reader.done) throw reader.error('Class is not closed', at);
    const ranges = this.#escapedClass(at);
    if (ranges !== undefined) return ranges;
    const escaped = reader.source.charAt(reader.at);
    if (escaped === 'b') {
      reader.at += 1;
      return 0x08;
    }
    if (escaped === 'N') {
      reader.at += 1;
      if (!reader.peek('{U+')) throw reader.error('\\N is not allowed in a class', at);
      return this.#codePoint(at);
    }
    if (/[BRX]/.test(escaped)) throw reader.error(`\\${escaped} is not allowed in a class`, at);
    return this.#character(at);
  }

  /** `\d`, `\H`, `\p{..}` and their like; undefined (and nothing read) where something else comes. */
  #escapedClass(at: number): CodePoints | undefined {
    const reader = this.#reader;
    const char = reader.source.charAt(reader.at);
    const ranges = ESCAPE_CLASSES.get(char);
    if (ranges !== undefined) {
      reader.at += 1;
      return ranges;
    }
    const property = reader.takeMatch(/([pP])(?:\{(\^?)([\w &]+)\}|([A-Z]))/y);
    if (property === undefined) {
      if (char === 'p' || char === 'P') throw reader.error(`Malformed \\${char}`, at);
      return undefined;
    }
    const [, letter, caret, long, short] = property;
    const members = this.#property(long ?? short ?? '', at);
    return (letter === 'P') !== (caret === '^') ? outside(members) : members;
  }

  #property(name: string, at: number): CodePoints {
    const known = name === 'L&' ? '[\\p{Lu}\\p{Ll}\\p{Lt}]' : name === 'Any' ? '[^]' : undefined;
    for (const source of known === undefined ? [`\\p{${name}}`, `\\p{Script=${name}}`] : [known]) {
      try {
        return codePointsOf(new RegExp(`^${source}$`, 'u'), this.utf ? undefined : 0xff);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    throw this.#reader.error(`Unknown or unsupported property \\p{${name}}`, at);
  }

  #crLf(): PatternNode {
    return { kind: 'sequence', items: [byteNode([[0x0d, 0x0d]]), byteNode([[0x0a, 0x0a]])] };
  }

  #lineBreak(): PatternNode {
    return { kind: 'alternation', branches: [this.#crLf(), this.#node(VERTICAL)] };
  }

  /** Escapes that stand for one character, in and outside classes; the reader is behind the backslash at `at`. */
  #character(at: number): number {
    const reader = this.#reader;
    const char = reader.next();
    const simple = SIMPLE_ESCAPES.get(char);
    if (simple !== undefined) return simple;
    switch (char) {
      case 'c': {
        const next = reader.next();
        if (!/^[\x20-\x7e]$/.test(next)) throw reader.error('\\c must be followed by a printable ASCII character', at);
        return next.toUpperCase().charCodeAt(0) ^ 0x40;
      }
      case 'x': {
        const braces = reader.takeMatch(/\{([0-9a-fA-F]{1,8})\}/y);
        if (braces !== undefined) return this.#inRange(parseInt(braces[1] ?? '', 16), at);
        if (reader.peek('{')) throw reader.error('\\x{} needs hexadecimal digits', at);
        return parseInt(reader.takeMatch(/[0-9a-fA-F]{1,2}/y)?.[0] ?? '0', 16);
      }
      case 'o': {
        const braces = reader.takeMatch(/\{([0-7]{1,8})\}/y);
        if (braces === undefined) throw reader.error('\\o must be followed by octal digits in {}', at);
        return this.#inRange(parseInt(braces[1] ?? '', 8), at);
      }
      default:
    }
    if (/^[0-7]$/.test(char)) {
      reader.at -= 1;
      return this.#inRange(parseInt(reader.takeMatch(/[0-7]{1,3}/y)?.[0] ?? '0', 8), at);
    }
    if (/^[A-Za-z]$/.test(char)) throw reader.error(`Escape \\${char} is not recognised or not supported`, at);
    return this.#wholeCharacter(char, at + 1);
  }

  /** `{U+hhhh}` behind `\N`. */
  #codePoint(at: number): number {
    const reader = this.#reader;
    const digits = reader.takeMatch(/\{U\+([0-9a-fA-F]{1,6})\}/y)?.[1];
    if (digits === undefined) throw reader.error('\\N{U+} needs hexadecimal digits', at);
    if (!this.utf) throw reader.error('\\N{U+} needs (*UTF)', at);
    return this.#inRange(parseInt(digits, 16), at);
  }

  #inRange(code: number, at: number): number {
    const reader = this.#reader;
    if (!this.utf && code > 0xff) throw reader.error('Character code is larger than a byte and (*UTF) is not set', at);
    if (code > 0x10ffff || (this.utf && code >= 0xd800 && code <= 0xdfff)) {
      throw reader.error('Character code is not a Unicode scalar value', at);
    }
    return code;
  }
}

const SIMPLE_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['e', 0x1b],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
]);

/** Nodes of single bytes that have been asked for, so that patterns share them; the same with both cases of letters. */
const BYTE_NODES: (PatternNode | undefined)[] = [];
const FOLDED_BYTE_NODES: (PatternNode | undefined)[] = [];
/** Nodes of classes, as long as their ranges are in use: those of the escapes always are. */
const CLASS_NODES = new WeakMap<CodePoints, PatternNode>();

function sharedByteNode(byte: number, fold: boolean): PatternNode {
  const ranges: CodePoints = [[byte, byte]];
  if (!fold) return (BYTE_NODES[byte] ??= byteNode(ranges));
  return (FOLDED_BYTE_NODES[byte] ??= byteNode(withOtherCase(ranges)));
}
