import type { z } from 'zod';
import type { scaMethods } from '../../../lib/bus/contracts/db-sca.js';
import { isoSeconds } from '../agent-fields.js';
import { compileDatabaseQuery } from '../query/database-query.js';
import { decodePolicy, policiesRange, policyOfKey, type ToldPolicy } from './policy-record.js';
import type { ScaTables } from './sca-store.js';
import { checkFields, equalityTest, type ScaItem, type ScaPage, tablePage, type TableRules } from './table-page.js';

export type PolicyListParams = z.output<(typeof scaMethods)['sca.policies']['params']>;

const FIELDS = [
  'policy_id',
  'name',
  'description',
  'references',
  'pass',
  'fail',
  'score',
  'invalid',
  'total_checks',
  'hash_file',
  'start_scan',
  'end_scan',
] as const;
const DATES = ['start_scan', 'end_scan'];
const RULES: TableRules = {
  sortable: FIELDS,
  selectable: FIELDS,
  mandatory: 'policy_id',
  defaultSort: '-policy_id',
};

/**
 * A page of an agent's policies (integrity-and-inventory.md 10.6): those of which a summary came.
 * @param now epoch milliseconds
 * @throws QueryError
 */
export function listPolicies({ policies }: ScaTables, params: PolicyListParams, now: number): ScaPage {
  const { agent, q, name, description, references } = params;
  checkFields(params, RULES);
  const isWanted = equalityTest({ name, description, references });
  const isAsked =
    q === undefined || q === '' ? () => true : compileDatabaseQuery(q, { fields: FIELDS, dateFields: DATES, now });
  const items: ScaItem[] = [];
  for (const { key, value } of policies.entries(policiesRange(Number(agent)))) {
    const { told } = decodePolicy(value);
    if (told === undefined) continue;
    const item = policyItem(policyOfKey(key), told);
    if (isWanted(item) && isAsked(item)) items.push(item);
  }
  return tablePage(items, params, RULES);
}

/** A policy as the API shows it: what was not told is left out. */
function policyItem(id: string, told: ToldPolicy): ScaItem {
  const { name, description, references, passed, failed, score, invalid, total, hashFile, start, end } = told;
  return {
    policy_id: id,
    name,
    ...(description === undefined ? {} : { description }),
    ...(references === undefined ? {} : { references }),
    pass: passed,
    fail: failed,
    score,
    invalid,
    total_checks: total,
    hash_file: hashFile,
    ...time('start_scan', start),
    ...time('end_scan', end),
  };
}

/** Latest moment that a date can show. */
const LAST_SECOND = 253_402_300_799;

/** 0 and what is no time is left out. */
function time(name: string, seconds: number): ScaItem {
  return seconds > 0 && seconds <= LAST_SECOND ? { [name]: isoSeconds(seconds) } : {};
}
