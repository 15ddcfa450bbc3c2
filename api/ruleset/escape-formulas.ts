import type { XmlElement } from '../../lib/xml/xml-element.js';

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA_START = new Set(['=', '+', '-', '@']);
const QUOTE = /["']/;

/**
 * Puts a `'` in front of element texts that begin like a formula and hold a quote, as clients of the API know it
 * (rest-api.md 6.5): such a text does nothing when a listing is opened as a table.
 * @param text the file
 * @param roots its elements
 */
export function escapeFormulas(text: string, roots: readonly XmlElement[]): string {
  const places = formulaPlaces(text, roots).sort((a, b) => a - b);
  let result = '';
  let done = 0;
  for (const place of places) {
    result += `${text.slice(done, place)}'`;
    done = place;
  }
  return result + text.slice(done);
}

function formulaPlaces(text: string, elements: readonly XmlElement[]): number[] {
  const places: number[] = [];
  const rest = [...elements];
  for (let element = rest.pop(); element !== undefined; element = rest.pop()) {
    const { innerStart, innerEnd, children } = element;
    if (innerStart < innerEnd && FORMULA_START.has(text.charAt(innerStart))) {
      const inner = text.slice(innerStart, innerEnd);
      // Of an element with children, the text in front of the first one.
      const own = children.length === 0 ? inner : (inner.split('<', 1)[0] ?? '');
      if (QUOTE.test(own)) places.push(innerStart);
    }
    for (const child of children) rest.push(child);
  }
  return places;
}
