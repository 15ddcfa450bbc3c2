import type { XmlElement } from '../../../xml/xml-element.js';
import type { Category } from '../../event.js';
import type { DecoderDraft } from './decoder-draft.js';
import type { DecoderReport } from './decoder-report.js';
import { joinText } from './decoder-text.js';
import { readFts, readOrder } from './order-elements.js';
import { pattern } from './pattern-elements.js';
import { readPlugin } from './plugin-element.js';

/** How one element of `<decoder>` is read: what each occurrence makes of the decoder so far. @throws RulesetError */
export type DecoderElement = (decoder: DecoderDraft, element: XmlElement, report: DecoderReport) => void;

const CATEGORIES: ReadonlySet<string> = new Set<Category>([
  'syslog',
  'firewall',
  'ids',
  'web-log',
  'squid',
  'windows',
  'host-information',
  'ossec',
]);

/** The elements whose names may be written in any case (decoding.md 4.2). */
const ANY_CASE: ReadonlyMap<string, DecoderElement> = new Map(
  Object.entries<DecoderElement>({
    parent: joined('parent'),
    program_name: pattern('program_name', 'programName'),
    prematch: pattern('prematch', 'prematch'),
    regex: pattern('regex', 'regex'),
    order: readOrder,
    fts: readFts,
    ftscomment: joined('ftscomment'),
    use_own_name(decoder, { content }) {
      decoder.useOwnName = content === 'true';
    },
    accumulate(decoder) {
      decoder.accumulate = true;
    },
    plugin_decoder: readPlugin,
    json_null_field: oneOfTwo('discardNulls', { off: 'string', on: 'discard', deprecated: 'empty' }),
    json_array_structure: oneOfTwo('csvArrays', { off: 'array', on: 'csv' }),
  }),
);

/** The reference compares this one element case-sensitively. */
const EXACT_CASE: ReadonlyMap<string, DecoderElement> = new Map([['type', readCategory]]);

/** How the element of this name is read, or undefined when a decoder has no such element. */
export function decoderElement(name: string): DecoderElement | undefined {
  return EXACT_CASE.get(name) ?? ANY_CASE.get(name.toLowerCase());
}

/** A text to which each occurrence adds. */
function joined(member: 'parent' | 'ftscomment'): DecoderElement {
  return (decoder, element, report) => {
    decoder[member] = joinText(decoder[member], element, report);
  };
}

/** One of two words of which the last one counts; any other is `off`, with a warning. */
function oneOfTwo(
  member: 'discardNulls' | 'csvArrays',
  words: { readonly off: string; readonly on: string; readonly deprecated?: string },
): DecoderElement {
  return (decoder, element, report) => {
    const { content } = element;
    decoder[member] = content === words.on;
    if (content === words.on || content === words.off) return;
    const what = content === words.deprecated ? '(7603): Deprecated' : '(7602): Invalid';
    const option = element.name.toLowerCase();
    report.warn(
      element,
      `${what} value '${content}' in '${option}' option (decoder \`${report.name}\`). Default value will be used.`,
    );
  };
}

function readCategory(decoder: DecoderDraft, element: XmlElement, report: DecoderReport): void {
  const { content } = element;
  if (!CATEGORIES.has(content)) report.fail(element, `Invalid decoder type '${content}'.`);
  decoder.category = content as Category;
}
