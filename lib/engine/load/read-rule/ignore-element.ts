import { IGNORE_PARTS, type IgnorePart } from '../rule.js';
import type { RuleElement } from './rule-element.js';

const PARTS: ReadonlySet<string> = new Set(IGNORE_PARTS);

/** `ignore` or `check_if_ignored`: a comma list of key parts and dynamic field names (rules-and-alerts.md 6.6). */
export function ignoreKey(member: 'ignore' | 'checkIfIgnored'): RuleElement {
  return (rule, element, report) => {
    const parts = new Set<IgnorePart>(rule[member]?.parts);
    const fields = [...(rule[member]?.fields ?? [])];
    for (const piece of element.content.split(',')) {
      const word = piece.trim();
      if (word === '') report.fail(element, `Wrong ${element.name} option: '${element.content}'`);
      if (PARTS.has(word)) parts.add(word as IgnorePart);
      else if (!fields.includes(word)) fields.push(word);
    }
    rule[member] = { parts, fields };
  };
}
