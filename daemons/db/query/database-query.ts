import { fieldPath, fieldValue, type ListItem } from '../../../lib/query/field-values.js';
import { parseQuery, type QueryClause, type QueryNode } from '../../../lib/query/parse-query.js';
import { QueryError } from '../../../lib/query/query-error.js';

/** What `q` may ask of a table (rest-api.md 4.4, "DB"). */
export type DatabaseQueryRules<T = ListItem> = {
  /** Fields that may be asked for, as the API names them. */
  readonly fields: readonly string[];
  /** Those of them that are dates, texts or epoch milliseconds; they also take a time span, `lastKeepAlive>1d`. */
  readonly dateFields?: readonly string[];
  /** Those of them that are lists: `=` and `!=` ask for membership, and no order is known (1409). */
  readonly listFields?: readonly string[];
  /** Those of them that may have the value `all`, which is asked for then. */
  readonly allFields?: readonly string[];
  /** How a field is read from an entry; absent: the member of its name, nested where the name has dots. */
  readonly read?: (field: string) => (item: T) => unknown;
  /** Epoch milliseconds, for time spans. */
  readonly now: number;
};

type Predicate<T> = (item: T) => boolean;

const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?Z?)?$/;
const SPAN = /^(\d{1,9})([dhms]?)$/;
const SPAN_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, '': 1000 };

/**
 * Compiles `q` for lists that the reference keeps in a database: text compares without case, `null` asks for absence,
 * the value `all` makes a clause vanish, quotes stand for any one character, dates compare as dates.
 * @throws QueryError 1407, 1408 for an unknown field, 1409 for an operator the field does not take, 1412 for a bad date
 */
export function compileDatabaseQuery<T = ListItem>(text: string, rules: DatabaseQueryRules<T>): Predicate<T> {
  const known = new Set(rules.fields);
  const node = parseQuery(text, () => text);
  return compileNode(node, rules, known) ?? (() => true);
}

/** Undefined when every clause of the node vanishes. */
function compileNode<T>(
  node: QueryNode,
  rules: DatabaseQueryRules<T>,
  known: ReadonlySet<string>,
): Predicate<T> | undefined {
  if (node.kind === 'clause') return compileDatabaseClause(node, rules, known);
  const parts = node.parts.map((part) => compileNode(part, rules, known)).filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return node.kind === 'and' ? allHold(parts) : anyHolds(parts);
}

/** Loops, since these run for every entry of a table. */
function allHold<T>(parts: readonly Predicate<T>[]): Predicate<T> {
  return (item) => {
    for (const part of parts) if (!part(item)) return false;
    return true;
  };
}

function anyHolds<T>(parts: readonly Predicate<T>[]): Predicate<T> {
  return (item) => {
    for (const part of parts) if (part(item)) return true;
    return false;
  };
}

/**
 * Compiles one clause of `q`, see `compileDatabaseQuery`. @returns undefined when it vanishes
 * @throws QueryError 1408, 1409, 1412
 */
export function compileDatabaseClause<T>(
  clause: QueryClause,
  rules: DatabaseQueryRules<T>,
  known: ReadonlySet<string> = new Set(rules.fields),
): Predicate<T> | undefined {
  const { field, operator, value } = clause;
  if (!known.has(field)) {
    throw new QueryError(1408, { extra: `Available fields: ${[...known].sort().join(', ')}. Field: ${field}` });
  }
  const isList = rules.listFields?.includes(field) === true;
  if (isList && (operator === '<' || operator === '>')) {
    throw new QueryError(1409, { extra: `Valid operators for ${field}: =, !=, ~. Used operator: ${operator}` });
  }
  if (value.toLowerCase() === 'all' && rules.allFields?.includes(field) !== true) return undefined;
  const read = rules.read?.(field) ?? memberReader(field);
  if (value.toLowerCase() === 'null') {
    return (item) => {
      const found = read(item);
      return found === undefined || found === null;
    };
  }
  if (rules.dateFields?.includes(field) === true) return dateClause(clause, read, rules.now);
  return isList && operator === '!=' ? nonMemberClause(clause, read) : textClause(clause, read);
}

function memberReader(field: string): (item: ListItem) => unknown {
  const path = fieldPath(field);
  return (item) => fieldValue(item, path);
}

function textClause<T>(clause: QueryClause, read: (item: T) => unknown): Predicate<T> {
  const holds = valueTest(clause);
  return (item) => {
    const found = read(item);
    return Array.isArray(found) ? found.some(holds) : holds(found);
  };
}

/** What is in no list at all is not "in another list" either, as in SQL. */
function nonMemberClause<T>(clause: QueryClause, read: (item: T) => unknown): Predicate<T> {
  const differs = valueTest(clause);
  return (item) => {
    const found = read(item);
    return Array.isArray(found) ? found.length > 0 && found.every(differs) : differs(found);
  };
}

function valueTest({ operator, value }: QueryClause): (found: unknown) => boolean {
  const wanted = value.toLowerCase();
  const number = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  const pattern = wildcardPattern(wanted, operator === '~');
  // No other text than one of the same length becomes an ASCII text in lower case.
  const isEquality = operator === '=' || operator === '!=';
  const length = isEquality && pattern === undefined && /^[ -~]*$/.test(wanted) ? wanted.length : undefined;
  return (found) => {
    if (length !== undefined && typeof found === 'string' && found.length !== length) return operator === '!=';
    if (typeof found === 'number' && !Number.isNaN(number) && operator !== '~') {
      return compare(operator, Math.sign(found - number));
    }
    if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'boolean') return false;
    const text = String(found).toLowerCase();
    if (pattern !== undefined) return pattern.test(text) === (operator !== '!=');
    if (operator === '~') return text.includes(wanted);
    return compare(operator, text === wanted ? 0 : text < wanted ? -1 : 1);
  };
}

/** A quote in the value is a wildcard for one character; without one no pattern is needed. */
function wildcardPattern(wanted: string, contains: boolean): RegExp | undefined {
  if (!/['"]/.test(wanted)) return undefined;
  const source = wanted.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/['"]/g, '[^]');
  return new RegExp(contains ? source : `^${source}$`, 'u');
}

function dateClause<T>({ operator, value }: QueryClause, read: (item: T) => unknown, now: number): Predicate<T> {
  const span = SPAN.exec(value);
  const date = span === null ? parseDate(value) : now - Number(span[1]) * (SPAN_MS[span[2] ?? ''] ?? 1000);
  return (item) => {
    const found = read(item);
    const time = typeof found === 'number' ? found : typeof found === 'string' ? Date.parse(found) : Number.NaN;
    if (Number.isNaN(time)) return false;
    // A time span says how long ago: older than a day is before yesterday, `<` and `=` are younger.
    if (span !== null) return operator === '>' ? time < date : time > date;
    if (operator === '~') return (typeof found === 'string' ? found : new Date(time).toISOString()).includes(value);
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
