import type { CorrelationAttribute } from '../rule.js';

/** What a `same_*`, `different_*` or `not_same_*` element means. */
export type CorrelationElement =
  | { readonly kind: 'same' | 'different'; readonly attribute: CorrelationAttribute }
  | { readonly kind: 'sameField' | 'differentField' }
  | { readonly kind: 'deprecated' };

const ANY_CASE = new Map<string, CorrelationElement>();
const EXACT_CASE = new Map<string, CorrelationElement>();

function add(
  names: Map<string, CorrelationElement>,
  kind: 'same' | 'different',
  attribute: CorrelationAttribute,
  ...aliases: readonly string[]
): void {
  for (const alias of aliases) names.set(alias, { kind, attribute });
}

// The table of rules-and-alerts.md 2.4: which spellings are compared case-sensitively is part of it.
add(ANY_CASE, 'same', 'srcip', 'same_source_ip', 'same_srcip');
add(EXACT_CASE, 'different', 'srcip', 'different_srcip', 'not_same_source_ip');
add(ANY_CASE, 'same', 'dstip', 'same_dstip');
add(ANY_CASE, 'different', 'dstip', 'different_dstip');
add(ANY_CASE, 'same', 'srcport', 'same_src_port', 'same_srcport');
add(ANY_CASE, 'different', 'srcport', 'different_src_port', 'different_srcport');
add(ANY_CASE, 'same', 'dstport', 'same_dst_port', 'same_dstport');
add(ANY_CASE, 'different', 'dstport', 'different_dst_port', 'different_dstport');
add(ANY_CASE, 'same', 'srcuser', 'same_srcuser');
add(ANY_CASE, 'different', 'srcuser', 'different_srcuser');
add(ANY_CASE, 'same', 'dstuser', 'same_user');
add(ANY_CASE, 'different', 'dstuser', 'different_user', 'not_same_user');
add(EXACT_CASE, 'same', 'id', 'same_id');
add(EXACT_CASE, 'different', 'id', 'different_id', 'not_same_id');
add(ANY_CASE, 'same', 'protocol', 'same_protocol');
add(EXACT_CASE, 'different', 'protocol', 'different_protocol');
add(ANY_CASE, 'same', 'action', 'same_action');
add(EXACT_CASE, 'different', 'action', 'different_action');
for (const attribute of ['url', 'data', 'extra_data', 'status', 'system_name', 'srcgeoip', 'dstgeoip'] as const) {
  add(EXACT_CASE, 'same', attribute, `same_${attribute}`);
  add(EXACT_CASE, 'different', attribute, `different_${attribute}`);
}
add(ANY_CASE, 'same', 'location', 'same_location');
add(ANY_CASE, 'different', 'location', 'different_location');
ANY_CASE.set('same_field', { kind: 'sameField' });
ANY_CASE.set('not_same_field', { kind: 'differentField' });
ANY_CASE.set('different_field', { kind: 'differentField' });
ANY_CASE.set('same_agent', { kind: 'deprecated' });
ANY_CASE.set('not_same_agent', { kind: 'deprecated' });

/** Meaning of a correlation element by its name as written, or undefined when it is none. */
export function correlationElement(name: string): CorrelationElement | undefined {
  return EXACT_CASE.get(name) ?? ANY_CASE.get(name.toLowerCase());
}
