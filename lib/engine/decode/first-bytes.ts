import type { Matcher } from '../../patterns/matcher.js';

type ByteSet = (code: number) => boolean;

/** Bytes of the classes of OS_Regex by their escape (decoding.md 1.3.2); others stand for themselves. */
const CLASSES: ReadonlyMap<string, ByteSet> = new Map<string, ByteSet>([
  ['d', (c) => c >= 0x30 && c <= 0x39],
  ['D', (c) => !(c >= 0x30 && c <= 0x39)],
  ['w', (c) => isWord(c)],
  ['W', (c) => !isWord(c)],
  ['s', (c) => c === 0x20],
  ['S', (c) => c !== 0x20],
  ['t', (c) => c === 0x09],
  ['p', (c) => (c >= 0x21 && c <= 0x2e) || (c >= 0x3a && c <= 0x3f) || [0x5b, 0x5d, 0x7b, 0x7c, 0x7d].includes(c)],
  ['.', () => true],
]);

function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || /[A-Za-z\-@_]/.test(String.fromCharCode(code));
}

/**
 * Bytes one of which a non-empty subject must begin with for the pattern to match; undefined when nothing can be said.
 *
 * Exact for OS_Regex alternatives that begin with `^` and then, after at most one `(`, an element that is not repeated
 * with `*`: the first step of the matcher compares it with byte 0, and with `^` a failure there is final
 * (decoding.md 1.3.4, B', C and D).
 */
export function firstBytes(matcher: Matcher): ReadonlySet<number> | undefined {
  if (matcher.language !== 'osregex') {
    return undefined;
  }
  const bytes = new Set<number>();
  for (const alternative of splitAlternatives(matcher.source)) {
    const element = /^\^\(?(?:\\(.)(?!\*)|([^\\()$]))/s.exec(alternative);
    if (element === null) {
      return undefined;
    }
    const accepts =
      element[1] === undefined ? literal(element[2] ?? '') : (CLASSES.get(element[1]) ?? literal(element[1]));
    for (let code = 0; code < 256; code += 1) {
      if (accepts(code)) {
        bytes.add(code);
      }
    }
  }
  return bytes;
}

/** Alternatives of an OS_Regex: `|` outside an escape. */
function splitAlternatives(source: string): string[] {
  return source.split(/(?<=^(?:[^\\]|\\.)*)\|/s);
}

/** A literal, compared without regard to ASCII case. A literal from 0x80 on never matches; taking it in is safe. */
function literal(character: string): ByteSet {
  const lower = character.toLowerCase().charCodeAt(0);
  const upper = character.toUpperCase().charCodeAt(0);
  return (code) => code === lower || code === upper;
}
