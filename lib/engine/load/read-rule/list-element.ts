import type { XmlElement } from '../../../xml/xml-element.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import { LIST_ATTRIBUTES, LIST_LOOKUPS, type ListAttribute, type ListLookup, type ListSpec } from '../rule.js';
import { failLoad } from '../rule-problem.js';

/**
 * Reads a `<list>` condition (rules-and-alerts.md 6.1). Whether the list is configured is the caller's question.
 * @throws RulesetError for a missing or unknown attribute and for an unknown look-up
 */
export function readListSpec(element: XmlElement, place: SourcePlace, diagnostics: Diagnostics): ListSpec {
  const path = element.content;
  const invalid = `(1274): Invalid configuration. Element '${element.name}': ${path}.`;
  if (element.attributes.length === 0) {
    failLoad(diagnostics, place, 'List must have a correctly formatted field attribute', invalid);
  }
  let word: string | undefined;
  let lookup: ListLookup = 'match_key';
  let checkValue: string | undefined;
  for (const { name, value } of element.attributes) {
    switch (name.toLowerCase()) {
      case 'field':
        word = value.trim().split(/\s/, 1)[0] ?? '';
        break;
      case 'lookup': {
        const known = LIST_LOOKUPS.find((each) => each === value.toLowerCase());
        if (known === undefined) failLoad(diagnostics, place, invalid, `List match lookup="${value}" is not valid.`);
        lookup = known;
        break;
      }
      case 'check_value':
        checkValue = value;
        break;
      default:
        failLoad(diagnostics, place, `List field="${value}" is not valid`, invalid);
    }
  }
  if (word === undefined) failLoad(diagnostics, place, 'List requires the field="" attribute', invalid);
  const attribute: ListAttribute | undefined = LIST_ATTRIBUTES.find((each) => each === word);
  return { path, attribute, fieldName: attribute === undefined ? word : '', lookup, checkValue };
}
