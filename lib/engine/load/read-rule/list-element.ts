import type { XmlElement } from '../../../xml/xml-element.js';
import { LIST_ATTRIBUTES, LIST_LOOKUPS, type ListLookup, type ListSpec } from '../rule.js';
import type { RuleDraft } from './rule-draft.js';
import type { RuleReport } from './rule-report.js';

/** A `<list>` condition (rules-and-alerts.md 6.1); one that names no configured list drops the rule. */
export function listCondition(rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  const list = readList(element, report);
  if (report.context.knowsList(list.path)) {
    rule.lists.push(list);
    return;
  }
  const text = `(7616): List '${list.path}' could not be loaded. Rule '${report.ruleId}' will be ignored.`;
  report.drop(element, text, { list: list.path });
}

/** @throws RulesetError for a missing or unknown attribute and for an unknown look-up */
function readList(element: XmlElement, report: RuleReport): ListSpec {
  const path = element.content;
  const invalid = `(1274): Invalid configuration. Element '${element.name}': ${path}.`;
  if (element.attributes.length === 0) {
    report.fail(element, 'List must have a correctly formatted field attribute', invalid);
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
        if (known === undefined) report.fail(element, invalid, `List match lookup="${value}" is not valid.`);
        lookup = known;
        break;
      }
      case 'check_value':
        checkValue = value;
        break;
      default:
        report.fail(element, `List field="${value}" is not valid`, invalid);
    }
  }
  if (word === undefined) report.fail(element, 'List requires the field="" attribute', invalid);
  const attribute = LIST_ATTRIBUTES.find((each) => each === word);
  return { path, attribute, fieldName: attribute === undefined ? word : '', lookup, checkValue };
}
