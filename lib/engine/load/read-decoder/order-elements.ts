import type { XmlElement } from '../../../xml/xml-element.js';
import { staticFieldOf } from '../../decode/static-field.js';
import type { FtsPart } from '../fts-spec.js';
import type { DecoderDraft } from './decoder-draft.js';
import type { DecoderReport } from './decoder-report.js';

/** Words of `fts` beside `name`, which is always part of the key. */
const FTS_WORDS: ReadonlyMap<string, FtsPart> = new Map([
  ['id', 'id'],
  ['user', 'dstuser'],
  ['dstuser', 'dstuser'],
  ['srcuser', 'srcuser'],
  ['srcip', 'srcip'],
  ['dstip', 'dstip'],
  ['data', 'data'],
  ['extra_data', 'data'],
  ['system_name', 'system_name'],
  ['location', 'location'],
]);

/** `<order>`: names for the captures of `regex`; the last element counts. */
export function readOrder(decoder: DecoderDraft, element: XmlElement, report: DecoderReport): void {
  const words = readWords(element, report);
  if (words.includes('')) {
    report.fail(element, `decode-xml: Wrong field '' in the order of decoder '${report.name}'`);
  }
  decoder.order = words;
}

/** `<fts>`: what makes the key of a first-time-seen event (decoding.md 4.9); the last element counts. */
export function readFts(decoder: DecoderDraft, element: XmlElement, report: DecoderReport): void {
  const { order } = decoder;
  const parts = new Set<FtsPart>();
  const fields = new Set<string>();
  // Only the dynamic fields before the first static one of the order can be named.
  const firstStatic = order.findIndex((name) => staticFieldOf(name) !== undefined);
  const known = new Set(firstStatic < 0 ? order : order.slice(0, firstStatic));
  for (const word of readWords(element, report)) {
    const part = FTS_WORDS.get(word);
    if (part !== undefined) {
      parts.add(part);
    } else if (known.has(word)) {
      fields.add(word);
    } else if (word !== 'name' && order.length > 0) {
      report.fail(element, `decode-xml: Wrong field '${word}' in the fts decoder '${report.name}'`);
    }
  }
  decoder.fts = { parts, fields: [...fields] };
}

function readWords(element: XmlElement, report: DecoderReport): string[] {
  const words = splitWords(element.content);
  if (words.length > report.orderSize) report.fail(element, 'Order has too many fields.');
  return words;
}

/** Words between commas (`\,` is a comma), each without leading spaces and cut at the first space after that. */
function splitWords(text: string): string[] {
  return text.split(/(?<!\\),/).map((word) => /^ *([^ ]*)/.exec(word)?.[1]?.replaceAll('\\,', ',') ?? '');
}
