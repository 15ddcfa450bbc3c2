import type { XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { RuleDraft } from './rule-draft.js';
import type { RuleReport } from './rule-report.js';

/** Ids of one block by notation: the old one lists techniques, the new one names a tactic and a technique. */
type MitreBlock = { readonly old: string[]; readonly tactics: string[]; readonly techniques: string[] };

const BLOCK_ELEMENTS: ReadonlyMap<string, readonly [keyof MitreBlock, 'Technique' | 'Tactic']> = new Map([
  ['id', ['old', 'Technique']],
  ['techniqueid', ['techniques', 'Technique']],
  ['tacticid', ['tactics', 'Tactic']],
]);

/** One `<mitre>` block (rules-and-alerts.md 2.6). Nothing in it ends the load. */
export function mitreBlock({ mitre }: RuleDraft, element: XmlElement, report: RuleReport): void {
  const block = readBlock(element, report);
  if (block === undefined) return;
  const { old, tactics, techniques } = block;
  const id = report.ruleId;
  const isNew = tactics.length + techniques.length > 0;
  if (old.length > 0 && isNew) {
    report.warnOfRule(
      `Rule '${id}' combined old and new Mitre formats in the same block. The Mitre block will be discarded.`,
    );
    return;
  }
  if (!isNew) {
    for (const technique of old) if (!mitre.techniques.includes(technique)) mitre.techniques.push(technique);
    return;
  }
  if (tactics.length > 1 || techniques.length > 1) {
    report.warnOfRule(
      `In rule '${id}' is not allowed to join more than one Mitre techniqueID or tacticID in the same block. The Mitre block will be discarded.`,
    );
    return;
  }
  const [tactic] = tactics;
  const [technique] = techniques;
  if (tactic === undefined) {
    report.warnOfRule(`Mitre tacticID should be defined in rule '${id}'`);
  } else if (technique === undefined) {
    report.warnOfRule(`Mitre techniqueID should be defined in rule '${id}'`);
  } else if (!mitre.pairs.some((pair) => pair.tactic === tactic && pair.technique === technique)) {
    mitre.pairs.push({ tactic, technique });
  }
}

/** When both notations were used in different blocks, only the new one stays. */
export function keepOneNotation(rule: RuleDraft, report: RuleReport): void {
  if (rule.mitre.techniques.length === 0 || rule.mitre.pairs.length === 0) return;
  report.warnOfRule(
    `Rule '${report.ruleId}' combined old and new Mitre formats, the old Mitre Technique format will be discarded.`,
  );
  rule.mitre = { techniques: [], pairs: rule.mitre.pairs };
}

function readBlock(element: XmlElement, report: RuleReport): MitreBlock | undefined {
  if (element.children.length === 0) {
    report.warnOfRule(`Empty Mitre information for rule '${report.ruleId}'`);
    return undefined;
  }
  const block: MitreBlock = { old: [], tactics: [], techniques: [] };
  for (const child of element.children) {
    const known = BLOCK_ELEMENTS.get(asciiLowerCase(child.name));
    if (known === undefined) {
      report.context.diagnostics.error(`Invalid option '${child.name}' for rule '${report.ruleId}'`, report.rulePlace);
      return undefined;
    }
    const [ids, what] = known;
    if (child.content === '') {
      report.warnOfRule(`No Mitre ${what} ID found for rule '${report.ruleId}'`);
      return undefined;
    }
    block[ids].push(child.content);
  }
  return block;
}
