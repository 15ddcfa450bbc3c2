import { searchItems } from '../../../lib/query/search-items.js';
import { selectFields } from '../../../lib/query/select-fields.js';
import { parseSort, sortItems } from '../../../lib/query/sort-items.js';
import { requireFields } from '../query/require-fields.js';
import { cutPage } from '../rows/cut-page.js';

export type ScaItem = Record<string, unknown>;
export type ScaPage = { readonly items: ScaItem[]; readonly total: number };

/** The common parameters of lists (rest-api.md 4.1), as svc-db has them; an absent one is undefined. */
export type PageParams = {
  readonly offset: number;
  readonly limit: number;
  readonly sort?: string | undefined;
  readonly search?: string | undefined;
  readonly select?: readonly string[] | undefined;
  readonly distinct?: boolean | undefined;
};

/** What a table knows. */
export type TableRules = {
  /** Fields to sort by, and those that may be selected. */
  readonly sortable: readonly string[];
  readonly selectable: readonly string[];
  /** The field that is always shown. */
  readonly mandatory: string;
  readonly defaultSort: string;
};

/** Refuses fields that a table does not have. @throws QueryError 1403, 1724 */
export function checkFields({ sort, select }: PageParams, { sortable, selectable, defaultSort }: TableRules): void {
  requireFields(parseSort(sort ?? defaultSort).fields, sortable, 1403);
  if (select !== undefined) requireFields(select, selectable, 1724);
}

/** The page of items that were found. @param items those that pass all filters but `search` */
export function tablePage(items: readonly ScaItem[], params: PageParams, rules: TableRules): ScaPage {
  const { offset, limit, sort, search, select, distinct = false } = params;
  const { sortable, selectable: allowed, mandatory, defaultSort } = rules;
  const found = search === undefined ? items : searchItems(items, search);
  const sorted = sortItems(found, parseSort(sort ?? defaultSort), sortable);
  const shown = (some: readonly ScaItem[]): ScaItem[] =>
    select === undefined ? [...some] : selectFields(some, select, { allowed, mandatory: distinct ? [] : [mandatory] });
  if (!distinct) return { items: cutPage(shown(sorted.slice(offset, offset + limit))), total: sorted.length };
  const rows = differentRows(shown(sorted), select);
  return { items: cutPage(rows.slice(offset, offset + limit)), total: rows.length };
}

/** Each row once; those in which a selected field is missing are left out (rest-api.md 4.1). */
function differentRows(rows: readonly ScaItem[], select: readonly string[] | undefined): ScaItem[] {
  const names = (select ?? []).map((name) => name.split('.', 1)[0] ?? name);
  const found = new Map<string, ScaItem>();
  for (const row of rows) {
    if (names.some((name) => (row[name] ?? '') === '')) continue;
    const text = JSON.stringify(row);
    if (!found.has(text)) found.set(text, row);
  }
  return [...found.values()];
}

/** Tests of plain filters: equality whatever the case, `all` for any (rest-api.md 4.6). */
export function equalityTest(
  filters: Readonly<Record<string, string | undefined>>,
  /** Those for which `all` is a value as any other. */
  allFields: readonly string[] = [],
): (item: ScaItem) => boolean {
  const wanted = Object.entries(filters)
    .map(([name, value]) => [name, value?.toLowerCase()] as const)
    .filter(([name, value]) => value !== undefined && (value !== 'all' || allFields.includes(name)));
  return (item) =>
    wanted.every(([name, value]) => {
      const found = item[name];
      return typeof found === 'string' && found.toLowerCase() === value;
    });
}
