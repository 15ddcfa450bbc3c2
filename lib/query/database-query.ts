import { fieldPath, fieldValue, type FieldPath } from './field-values.js';
import type { ItemPredicate } from './array-query.js';
import { parseQuery, type QueryClause, type QueryNode } from './parse-query.js';
import { QueryError } from './query-error.js';

/** What `q` may ask of a table (rest-api.md 4.4, "DB"). */
export type DatabaseQueryRules = {
  /** Fields that may be asked for, as the API names them. */
  readonly fields: readonly string[];
  /** Those of them that are dates; they also take a time span, `lastKeepAlive>1d`. */
  readonly dateFields?: readonly string[];
  /** Epoch milliseconds, for time spans. */
  readonly now: number;
};

const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?Z?)?$/;
const SPAN = /^(\d{1,9})([dhms]?)$/;
const SPAN_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, '': 1000 };

/**
 * Compiles `q` for lists that the reference keeps in a database: text compares without case, `null` asks for absence,
 * the value `all` makes a clause vanish, quotes stand for any one character, dates compare as dates.
 * @throws QueryError 1407, 1408 for an unknown field, 1412 for a bad date
 */
export function compileDatabaseQuery(text: string, rules: DatabaseQueryRules): ItemPredicate {
  const known = new Set(rules.fields);
  const node = parseQuery(text, () => text);
  return compileNode(node, rules, known) ?? (() => true);
}

/** Undefined when every clause of the node vanishes. */
function compileNode(
  node: QueryNode,
  rules: DatabaseQueryRules,
  known: ReadonlySet<string>,
): ItemPredicate | undefined {
  if (node.kind === 'clause') return compileClause(node, rules, known);
  const parts = node.parts.map((part) => compileNode(part, rules, known)).filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return node.kind === 'and' ? (item) => parts.every((part) => part(item)) : (item) => parts.some((part) => part(item));
}

function compileClause(
  clause: QueryClause,
  rules: DatabaseQueryRules,
  known: ReadonlySet<string>,
): ItemPredicate | undefined {
  const { field, value } = clause;
  if (!known.has(field)) {
    throw new QueryError(1408, { extra: `Available fields: ${[...known].sort().join(', ')}. Field: ${field}` });
  }
  if (value.toLowerCase() === 'all') return undefined;
  const path = fieldPath(field);
  if (value.toLowerCase() === 'null') {
    return (item) => {
      const found = fieldValue(item, path);
      return found === undefined || found === null;
    };
  }
  return rules.dateFields?.includes(field) === true ? dateClause(clause, path, rules.now) : textClause(clause, path);
}

function textClause({ operator, value }: QueryClause, path: FieldPath): ItemPredicate {
  const wanted = value.toLowerCase();
  const number = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  const pattern = wildcardPattern(wanted, operator === '~');
  const holds = (found: unknown): boolean => {
    if (typeof found === 'number' && !Number.isNaN(number) && operator !== '~') {
      return compare(operator, Math.sign(found - number));
    }
    if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'boolean') return false;
    const text = String(found).toLowerCase();
    if (pattern !== undefined) return pattern.test(text) === (operator !== '!=');
    if (operator === '~') return text.includes(wanted);
    return compare(operator, text === wanted ? 0 : text < wanted ? -1 : 1);
  };
  return (item) => {
    const found = fieldValue(item, path);
    return Array.isArray(found) ? found.some(holds) : holds(found);
  };
}

/** A quote in the value is a wildcard for one character; without one no pattern is needed. */
function wildcardPattern(wanted: string, contains: boolean): RegExp | undefined {
  if (!/['"]/.test(wanted)) return undefined;
  const source = wanted.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/['"]/g, '[^]');
  return new RegExp(contains ? source : `^${source}$`, 'u');
}

function dateClause({ operator, value }: QueryClause, path: FieldPath, now: number): ItemPredicate {
  const span = SPAN.exec(value);
  const date = span === null ? parseDate(value) : now - Number(span[1]) * (SPAN_MS[span[2] ?? ''] ?? 1000);
  return (item) => {
    const found = fieldValue(item, path);
    const time = typeof found === 'string' ? Date.parse(found) : Number.NaN;
    if (Number.isNaN(time)) return false;
    // A time span says how long ago: older than a day is before yesterday, `<` and `=` are younger.
    if (span !== null) return operator === '>' ? time < date : time > date;
    if (operator === '~') return typeof found === 'string' && found.includes(value);
    return compare(operator, Math.sign(time - date));
  };
}

function parseDate(value: string): number {
  const match = DATE.exec(value);
  const time = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2] ?? '00:00:00'}Z`);
  if (Number.isNaN(time)) throw new QueryError(1412);
  return time;
}

/** @param order -1, 0 or 1 as the value found is below, equal to or above the wanted one */
function compare(operator: QueryClause['operator'], order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '>':
      return order > 0;
    case '~':
      return false;
  }
}
