import type { XmlElement } from '../../../xml/xml-element.js';
import type { DecoderOffset } from '../decoder-definition.js';
import type { DecoderReport } from './decoder-report.js';

/** Joined text of a repeatable element must stay below this (decoding.md 4.2). */
const MAX_TEXT = 1024;

/** Texts of a repeated element are concatenated; one that becomes too long is dropped altogether. */
export function joinText(before: string | undefined, element: XmlElement, report: DecoderReport): string | undefined {
  const text = (before ?? '') + element.content;
  if (text.length < MAX_TEXT) return text;
  report.error(element, `(1104): Maximum string size reached for: ${element.content}.`);
  return undefined;
}

/** Value of an `offset` attribute, or undefined for an unknown word. */
export function readOffset(word: string): DecoderOffset | undefined {
  const lower = word.toLowerCase();
  return lower === 'after_parent' || lower === 'after_prematch' || lower === 'after_regex' ? lower : undefined;
}
