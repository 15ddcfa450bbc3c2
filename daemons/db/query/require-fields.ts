import { QueryError } from '../../../lib/query/query-error.js';

/**
 * Refuses names that no field of a table has (rest-api.md 4.5, "DB").
 * @param known all fields of the table
 * @param code 1403 for those to sort by, 1724 for those to show
 * @throws QueryError
 */
export function requireFields(names: readonly string[], known: readonly string[], code: 1403 | 1724): void {
  const wrong = names.filter((name) => !known.includes(name));
  if (wrong.length === 0) return;
  const what = code === 1403 ? 'sort' : 'select';
  const extra = `Allowed ${what} fields: ${known.toSorted().join(', ')}. Fields: ${wrong.join(', ')}`;
  throw new QueryError(code, { extra });
}
