import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import type { scaMethods } from '../../../lib/bus/contracts/db-sca.js';
import type { BinaryEntry } from '../../../lib/store/binary-table.js';
import { compileDatabaseQuery } from '../query/database-query.js';
import { slotRange } from '../rows/row-keys.js';
import { type CheckDefinition, type CheckRow, decodeCheck, decodeDefinition, type Tag } from './check-row.js';
import { decodePolicy, policyKey } from './policy-record.js';
import { checkOfKey, definitionKey } from './sca-keys.js';
import type { ScaTables } from './sca-store.js';
import { checkFields, equalityTest, type ScaItem, type ScaPage, tablePage, type TableRules } from './table-page.js';

export type CheckListParams = z.output<(typeof scaMethods)['sca.checks']['params']>;

const TEXTS = [
  'title',
  'description',
  'rationale',
  'remediation',
  'file',
  'process',
  'directory',
  'registry',
  'command',
  'references',
] as const;
const COLUMNS = ['policy_id', 'id', ...TEXTS, 'result', 'reason', 'condition'] as const;
const BELOW = ['compliance.key', 'compliance.value', 'rules.type', 'rules.rule'] as const;
/** Milliseconds of one turn of the event loop: a query that joins all tags of a check with all rules takes some for one check. */
const TURN_MS = 5;
/** A check that all rules must pass has the condition `all`: it is a value there. */
const ALL_FIELDS = ['condition'];
const RULES: TableRules = {
  sortable: COLUMNS,
  selectable: [...COLUMNS, 'compliance', 'rules', ...BELOW],
  mandatory: 'id',
  defaultSort: 'id',
};

/** A check with a row of each of the tables below it, as a query joins them. */
type Joined = { readonly item: ScaItem; readonly compliance: ScaItem | undefined; readonly rules: ScaItem | undefined };
type Test = (item: ScaItem) => boolean;

/**
 * A page of the checks of a policy of an agent (integrity-and-inventory.md 10.6).
 * @param now epoch milliseconds
 * @throws QueryError
 */
export async function listChecks(tables: ScaTables, params: CheckListParams, now: number): Promise<ScaPage> {
  const { agent, policy, offset, limit, sort, search, distinct = false } = params;
  checkFields(params, RULES);
  const tests = compileTests(params, now);
  const stored = tables.policies.get(policyKey(agent, policy));
  if (stored === undefined) return { items: [], total: 0 };
  const rows = [...tables.checks.entries(slotRange(decodePolicy(stored).slot))];
  // Most pages are of all checks in their order, which is that of the rows: others need not be looked at.
  const isPlain = tests.length === 0 && sort === undefined && search === undefined && !distinct;
  const looked = isPlain ? rows.slice(offset, offset + limit) : rows;
  const items = await readItems(tables, policy, looked, tests);
  if (!isPlain) return tablePage(items, params, RULES);
  return { ...tablePage(items, { ...params, offset: 0 }, RULES), total: rows.length };
}

async function readItems(
  tables: ScaTables,
  policy: string,
  rows: readonly BinaryEntry[],
  tests: readonly Test[],
): Promise<ScaItem[]> {
  const items: ScaItem[] = [];
  let turnAt = performance.now();
  for (const { key, value } of rows) {
    if (performance.now() - turnAt >= TURN_MS) {
      await nextTurn();
      turnAt = performance.now();
    }
    const row = decodeCheck(value);
    const definition = tables.definitions.get(definitionKey(row.definition));
    // Dropped meanwhile.
    if (definition === undefined) continue;
    const item = checkItem(policy, checkOfKey(key), row, decodeDefinition(definition));
    if (tests.every((test) => test(item))) items.push(item);
  }
  return items;
}

/** A check as the API shows it: columns that were not told are left out. */
function checkItem(policy: string, id: number, row: CheckRow, definition: CheckDefinition): ScaItem {
  const item: ScaItem = { policy_id: policy, id };
  for (const name of TEXTS) {
    const text = definition[name];
    if (text !== undefined) item[name] = text;
  }
  item['result'] = row.result;
  if (row.reason !== undefined) item['reason'] = row.reason;
  if (definition.condition !== undefined) item['condition'] = definition.condition;
  item['compliance'] = definition.compliance.map(([key, value]: Tag) => ({ key, value }));
  item['rules'] = definition.rules.map(([type, rule]: Tag) => ({ type, rule }));
  return item;
}

/** @throws QueryError */
function compileTests(params: CheckListParams, now: number): Test[] {
  const { q, result, reason, condition } = params;
  const tests: Test[] = [];
  const filters = Object.fromEntries(TEXTS.map((name) => [name, params[name]]));
  const given = { ...filters, result, reason, condition };
  if (Object.values(given).some((value) => value !== undefined)) tests.push(equalityTest(given, ALL_FIELDS));
  if (q !== undefined && q !== '') tests.push(compileJoin(q, now));
  return tests;
}

/** Whether a check passes with any row of the tables that a query names: two clauses about tags are about the same tag. */
function compileJoin(q: string, now: number): Test {
  const named = new Set<string>();
  const test = compileDatabaseQuery<Joined>(q, {
    fields: [...COLUMNS, ...BELOW],
    allFields: ALL_FIELDS,
    read: (field) => {
      const [table = '', column] = field.split('.');
      if (column === undefined) return ({ item }) => item[table];
      named.add(table);
      return table === 'rules' ? ({ rules }) => rules?.[column] : ({ compliance }) => compliance?.[column];
    },
    now,
  });
  const rowsOf = (item: ScaItem, table: string): readonly (ScaItem | undefined)[] => {
    const rows = named.has(table) ? (item[table] as readonly ScaItem[]) : [];
    return rows.length === 0 ? [undefined] : rows;
  };
  return (item) =>
    rowsOf(item, 'compliance').some((compliance) =>
      rowsOf(item, 'rules').some((rules) => test({ item, compliance, rules })),
    );
}
