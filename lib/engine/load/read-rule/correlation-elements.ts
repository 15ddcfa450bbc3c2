import type { XmlElement } from '../../../xml/xml-element.js';
import type { CorrelationAttribute } from '../rule.js';
import type { RuleDraft } from './rule-draft.js';
import type { RuleElement } from './rule-element.js';
import type { RuleReport } from './rule-report.js';

/** Elements of rules-and-alerts.md 2.4 whose names may be written in any case. */
export const CORRELATION_ELEMENTS: Readonly<Record<string, RuleElement>> = {
  same_source_ip: same('srcip'),
  same_srcip: same('srcip'),
  same_dstip: same('dstip'),
  different_dstip: different('dstip'),
  same_src_port: same('srcport'),
  same_srcport: same('srcport'),
  different_src_port: different('srcport'),
  different_srcport: different('srcport'),
  same_dst_port: same('dstport'),
  same_dstport: same('dstport'),
  different_dst_port: different('dstport'),
  different_dstport: different('dstport'),
  same_srcuser: same('srcuser'),
  different_srcuser: different('srcuser'),
  same_user: same('dstuser'),
  different_user: different('dstuser'),
  not_same_user: different('dstuser'),
  same_protocol: same('protocol'),
  same_action: same('action'),
  same_location: same('location'),
  different_location: different('location'),
  same_field: fieldName('sameFields'),
  different_field: fieldName('differentFields'),
  not_same_field: fieldName('differentFields'),
  same_agent: gone,
  not_same_agent: gone,
};

/** Elements of rules-and-alerts.md 2.4 whose names count only as written here: which ones they are is the reference's. */
export const EXACT_CASE_CORRELATION_ELEMENTS: Readonly<Record<string, RuleElement>> = {
  different_srcip: different('srcip'),
  not_same_source_ip: different('srcip'),
  same_id: same('id'),
  different_id: different('id'),
  not_same_id: different('id'),
  different_protocol: different('protocol'),
  different_action: different('action'),
  same_url: same('url'),
  different_url: different('url'),
  same_data: same('data'),
  different_data: different('data'),
  same_extra_data: same('extra_data'),
  different_extra_data: different('extra_data'),
  same_status: same('status'),
  different_status: different('status'),
  same_system_name: same('system_name'),
  different_system_name: different('system_name'),
  same_srcgeoip: same('srcgeoip'),
  different_srcgeoip: different('srcgeoip'),
  same_dstgeoip: same('dstgeoip'),
  different_dstgeoip: different('dstgeoip'),
};

function same(attribute: CorrelationAttribute): RuleElement {
  return (rule) => {
    rule.same.add(attribute);
  };
}

function different(attribute: CorrelationAttribute): RuleElement {
  return (rule) => {
    rule.different.add(attribute);
  };
}

/** The text names a dynamic field. */
function fieldName(member: 'sameFields' | 'differentFields'): RuleElement {
  return (rule, element) => {
    rule[member].push(element.content);
  };
}

function gone(_rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  report.warn(element, `Detected a deprecated field option for rule, ${element.name} is not longer available.`);
}
