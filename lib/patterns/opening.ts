import { LITERAL, LITERAL_TABLES, MARK, MOVE, type OsRegexCode, OUTSIDE, PLUS, STAR } from './os-regex-code.js';
import type { ByteTable } from './os-regex-parse.js';

/** A byte that the table has a flag for, or with `repeats` any number of them, none included. */
export type OpeningElement = { readonly table: ByteTable; readonly repeats: boolean };

/**
 * What a subject begins with, element by element, wherever a pattern matches it; one that ends within the opening may match all the
 * same. It says less than the pattern: what has the opening may match.
 */
export type Opening = readonly OpeningElement[];

/** Elements of an opening that are kept: those behind them are hardly ever looked at. */
const MAX_ELEMENTS = 64;

/** The opening of a text. @param text folded byte string */
export function openingOfText(text: string): Opening {
  return Array.from(Buffer.from(text.slice(0, MAX_ELEMENTS), 'latin1'), (byte) => literalElement(byte));
}

/**
 * The opening of an alternative of OS_Regex that begins with `^`. It follows from decoding.md 1.3.4: the scan takes byte
 * after byte, and a choice that it comes back to went on in the same repeat. Two things need care:
 *
 * - A repeat that the class behind it takes a byte from leaves `rep` on. From there on a `+` may be passed without a byte (B'.2), and
 *   the match may be over one element early (B'.1).
 * - The second of two marks is taken as a byte.
 */
export function openingOf(code: OsRegexCode): Opening {
  const { length, kinds, tables, tails } = code;
  const leaks = tables.some((table, p) => isRepeat(kinds[p]) && table.includes(MOVE));
  const opening: OpeningElement[] = [];
  for (let p = 0; p < length && opening.length < MAX_ELEMENTS; p += 1) {
    const kind = kinds[p];
    if (kind === MARK) {
      if (kinds[p - 1] === MARK) break;
      continue;
    }
    if (kind === LITERAL) {
      opening.push(literalElement(code.bytes[p] ?? 0));
      continue;
    }
    if (leaks && tails[p] === 1) break;
    const table = tables[p]?.map((decision) => (decision === OUTSIDE ? 0 : 1));
    if (table === undefined) break;
    if (kind !== STAR && !(leaks && kind === PLUS)) opening.push({ table, repeats: false });
    if (!isRepeat(kind)) continue;
    // From the last repeat on, and from one that takes everything, nothing can go wrong any more.
    if (p + 1 === length || !table.includes(0)) break;
    opening.push({ table, repeats: true });
  }
  return opening;
}

function isRepeat(kind: number | undefined): boolean {
  return kind === PLUS || kind === STAR;
}

function literalElement(folded: number): OpeningElement {
  return { table: LITERAL_TABLES[folded] ?? NO_BYTES, repeats: false };
}

const NO_BYTES: ByteTable = new Uint8Array(256);
