import type { XmlElement } from '../../../xml/xml-element.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import { IGNORE_PARTS, type IgnorePart, type IgnoreSpec } from '../rule.js';
import { failLoad } from '../rule-problem.js';

const PARTS: ReadonlySet<string> = new Set(IGNORE_PARTS);

/**
 * Reads `ignore` or `check_if_ignored`: a comma list of key parts and dynamic field names (rules-and-alerts.md 6.6).
 * @throws RulesetError for an empty word
 */
export function readIgnoreSpec(
  before: IgnoreSpec | undefined,
  element: XmlElement,
  place: SourcePlace,
  diagnostics: Diagnostics,
): IgnoreSpec {
  const parts = new Set<IgnorePart>(before?.parts);
  const fields = [...(before?.fields ?? [])];
  for (const piece of element.content.split(',')) {
    const word = piece.trim();
    if (word === '') failLoad(diagnostics, place, `Wrong ${element.name} option: '${element.content}'`);
    if (PARTS.has(word)) parts.add(word as IgnorePart);
    else if (!fields.includes(word)) fields.push(word);
  }
  return { parts, fields };
}
