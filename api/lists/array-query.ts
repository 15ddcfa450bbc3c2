import { fieldPath, type ListItem, someFieldValue } from '../../lib/query/field-values.js';
import { parseQuery, type QueryClause, type QueryNode } from '../../lib/query/parse-query.js';

export type ItemPredicate = (item: ListItem) => boolean;

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?Z?)?$/;
const DATE_VALUE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/**
 * Compiles `q` for lists that are no database table (rest-api.md 4.4, "Array"): `~` and `=` are case-sensitive, numbers
 * compare as numbers, a list matches when one element does, a missing field never matches.
 * @throws QueryError 1407
 */
export function compileArrayQuery(text: string): ItemPredicate {
  return compileNode(parseQuery(text, (clause) => `Parameter 'q' is not valid: '${clause}'`));
}

function compileNode(node: QueryNode): ItemPredicate {
  if (node.kind === 'clause') return compileClause(node);
  const parts = node.parts.map(compileNode);
  return node.kind === 'and' ? (item) => parts.every((part) => part(item)) : (item) => parts.some((part) => part(item));
}

function compileClause({ field, operator, value }: QueryClause): ItemPredicate {
  const path = fieldPath(field);
  const test = operator === '~' ? contains(value) : compare(operator, value);
  return (item) => someFieldValue(item, path, test);
}

function contains(wanted: string): (value: string | number | boolean) => boolean {
  return (value) => String(value).includes(wanted);
}

function compare(operator: '=' | '!=' | '<' | '>', wanted: string): (value: string | number | boolean) => boolean {
  const number = /^-?\d+(\.\d+)?$/.test(wanted) ? Number(wanted) : Number.NaN;
  const lower = wanted.toLowerCase();
  const date = DATE.test(wanted) ? dateOf(wanted) : Number.NaN;
  return (value) => {
    if (typeof value === 'number') return holds(operator, value, number);
    if (typeof value === 'boolean') return holds(operator, String(value), lower);
    if (!Number.isNaN(date) && DATE_VALUE.test(value)) return holds(operator, Date.parse(value), date);
    return holds(operator, value, wanted);
  };
}

function holds<T extends string | number>(operator: '=' | '!=' | '<' | '>', value: T, wanted: T): boolean {
  switch (operator) {
    case '=':
      return value === wanted;
    case '!=':
      return value !== wanted;
    case '<':
      return value < wanted;
    case '>':
      return value > wanted;
  }
}

/** All dates are UTC. */
function dateOf(text: string): number {
  const iso = text.replace(' ', 'T');
  return Date.parse(iso.length === 10 || iso.endsWith('Z') ? iso : `${iso}Z`);
}
