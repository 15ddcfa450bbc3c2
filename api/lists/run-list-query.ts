import type { ListItem } from '../../lib/query/field-values.js';
import { searchItems } from '../../lib/query/search-items.js';
import { selectFields } from '../../lib/query/select-fields.js';
import { parseSort, sortItems } from '../../lib/query/sort-items.js';
import { compileArrayQuery, type ItemPredicate } from './array-query.js';

/** The common list parameters of a request (rest-api.md 4.1); what is absent has no effect. */
export type ListQuery = {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly sort?: string | undefined;
  readonly search?: string | undefined;
  readonly select?: readonly string[] | undefined;
  readonly q?: string | undefined;
  readonly distinct?: boolean | undefined;
};

/** What a list allows. */
export type ListRules = {
  /** Order without `sort`, in its notation; absent keeps the order given. */
  readonly defaultSort?: string;
  readonly sortFields?: readonly string[];
  readonly selectFields?: readonly string[];
  /** Fields that stay whatever is selected, unless distinct rows are wanted. */
  readonly mandatoryFields?: readonly string[];
  /** Compiles `q`; that of plain arrays when absent. */
  readonly compileQuery?: (text: string) => ItemPredicate;
};

/** A page of a list, and how many items there are on all pages. */
export type ListPage = { readonly items: readonly ListItem[]; readonly total: number };

/**
 * Applies the list parameters to a whole list: `q` and `search` filter, then `sort`, `select`, `distinct`, and the page
 * is cut last (rest-api.md 4). Without `distinct` only the items of the page are selected from, so that a page of a long
 * list costs little more than its filters.
 * @throws QueryError
 */
export function runListQuery(items: readonly ListItem[], query: ListQuery, rules: ListRules = {}): ListPage {
  const { offset = 0, limit = Number.POSITIVE_INFINITY, select, distinct = false } = query;
  let result: readonly ListItem[] = items;
  if (query.q !== undefined && query.q !== '') {
    result = result.filter((rules.compileQuery ?? compileArrayQuery)(query.q));
  }
  if (query.search !== undefined) result = searchItems(result, query.search);
  if (query.sort !== undefined) result = sortItems(result, parseSort(query.sort), rules.sortFields);
  else if (rules.defaultSort !== undefined) result = sortItems(result, parseSort(rules.defaultSort), undefined);
  const cut = (list: readonly ListItem[]) => list.slice(offset, offset + limit);
  const allowed = rules.selectFields === undefined ? {} : { allowed: rules.selectFields };
  if (distinct) {
    const rows = distinctItems(select === undefined ? result : selectFields(result, select, allowed));
    return { items: cut(rows), total: rows.length };
  }
  const page = cut(result);
  if (select === undefined) return { items: page, total: result.length };
  const selected = selectFields(page, select, { ...allowed, mandatory: rules.mandatoryFields ?? [] });
  return { items: selected, total: result.length };
}

/** The first of equal items. */
function distinctItems(items: readonly ListItem[]): ListItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = JSON.stringify(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
