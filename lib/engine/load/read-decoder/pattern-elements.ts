import type { PatternLanguage } from '../../../patterns/matcher.js';
import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import type { DecoderOffset } from '../decoder-definition.js';
import type { DecoderDraft, PatternDraft } from './decoder-draft.js';
import type { DecoderReport } from './decoder-report.js';
import { joinText, readOffset } from './decoder-text.js';

type PatternElement = 'prematch' | 'regex' | 'program_name';

/** A pattern with its attributes: texts are joined, the last `type` counts, `offset` only with the first element. */
export function pattern(name: PatternElement, member: 'programName' | 'prematch' | 'regex') {
  return (decoder: DecoderDraft, element: XmlElement, report: DecoderReport): void => {
    const before = decoder[member];
    const offset = readPatternOffset(name, before, element, report);
    const source = joinText(before?.dropped === false ? before.source : undefined, element, report);
    decoder[member] = {
      source: source ?? '',
      dropped: source === undefined,
      language: readLanguage(name, element, report),
      offset,
      place: before?.place ?? report.place(element),
    };
  };
}

function readPatternOffset(
  name: PatternElement,
  before: PatternDraft | undefined,
  element: XmlElement,
  report: DecoderReport,
): DecoderOffset | undefined {
  const word = name === 'program_name' ? undefined : attributeValue(element, 'offset');
  if (word === undefined) return before?.offset;
  if (before !== undefined) {
    report.fail(element, `(2109): Duplicated offsets for same regex: '${report.name}'.`, report.decoderError);
  }
  const offset = readOffset(word);
  if (offset === undefined) {
    const text = badAttribute('offset', name, report);
    if (name === 'regex') report.warn(element, text);
    else report.error(element, text);
  }
  return offset;
}

function readLanguage(name: PatternElement, element: XmlElement, report: DecoderReport): PatternLanguage {
  const byDefault = name === 'program_name' ? 'osmatch' : 'osregex';
  const type = attributeValue(element, 'type');
  if (type === undefined) return byDefault;
  const language = type.toLowerCase();
  if (language === 'osregex' || language === 'pcre2' || (language === 'osmatch' && name === 'program_name')) {
    return language;
  }
  report.warn(element, badAttribute('type', name, report));
  return byDefault;
}

function badAttribute(attribute: string, element: PatternElement, report: DecoderReport): string {
  return (
    `(7601): Invalid value for attribute '${attribute}' in '${element}' option (decoder \`${report.name}\`). ` +
    'Default value will be used.'
  );
}
