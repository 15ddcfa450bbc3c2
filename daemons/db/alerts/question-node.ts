import { parseQuery, type QueryNode } from '../../../lib/query/parse-query.js';
import { QueryError } from '../../../lib/query/query-error.js';
import { compileDatabaseClause } from '../query/database-query.js';
import { type AgentNumbers, hasAgent } from './agent-numbers.js';
import { type AlertJson, type AlertValue, fieldReader, type PlainValue } from './alert-fields.js';
import { isWrittenPlainly, type SearchTerm, wholeWords } from './search-terms.js';

/** One field of an alert is asked for. */
export type FieldNode = {
  readonly kind: 'field';
  readonly field: string;
  readonly read: (alert: AlertJson) => AlertValue;
  readonly test: (value: AlertValue) => boolean;
  /** Numbers of words (alert-words.ts): of one of these lists an alert must have all. Without it words say nothing. */
  readonly words: readonly (readonly number[])[] | undefined;
  /** In lower case, what an alert must have as it is written; undefined where nothing is known. */
  readonly text: string | undefined;
};

/** What an alert must be: a tree. */
export type QuestionNode =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly QuestionNode[] }
  | FieldNode
  | { readonly kind: 'time'; readonly test: (time: number) => boolean }
  | { readonly kind: 'text'; readonly term: SearchTerm };

/** Characters of a `q` that is refused. */
const MOST_SHOWN = 200;
/** Values whose words are looked for; with more of them most segments have one. */
const MAX_VALUES = 16;
/** Clauses of a `q`, and wildcards in a value of one: each is tried on every value of a segment, in one piece. */
const MAX_CLAUSES = 64;
const MAX_WILDCARDS = 32;
/** Members that words say nothing of: they are not looked into. */
const WITHOUT_WORDS = ['id', 'timestamp'];

/**
 * Reads `q`. @param now epoch milliseconds, for time spans
 * @returns undefined when every clause vanishes
 * @throws QueryError
 */
export function readQuery(q: string, now: number): QuestionNode | undefined {
  const node = parseQuery(q, () => q);
  if (clausesOf(node) > MAX_CLAUSES) {
    throw new QueryError(1407, { extra: `${q.slice(0, MOST_SHOWN)}... has more than ${MAX_CLAUSES} clauses` });
  }
  return nodeOf(node, now);
}

function clausesOf(node: QueryNode): number {
  return node.kind === 'clause' ? 1 : node.parts.reduce((sum, part) => sum + clausesOf(part), 0);
}

function nodeOf(node: QueryNode, now: number): QuestionNode | undefined {
  if (node.kind !== 'clause') {
    const parts = node.parts.map((part) => nodeOf(part, now)).filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : { kind: node.kind, parts };
  }
  const { field, operator, value } = node;
  if (value.replace(/[^'"]/g, '').length > MAX_WILDCARDS) {
    throw new QueryError(1407, { extra: `a value of '${field}' has more than ${MAX_WILDCARDS} wildcards` });
  }
  if (field === 'timestamp') {
    // As a text it would be made for each alert there is.
    if (operator === '~') {
      throw new QueryError(1409, { extra: 'Valid operators for timestamp: =, !=, <, >. Used operator: ~' });
    }
    const rules = { fields: [field], dateFields: [field], now, read: () => (time: number) => time };
    const test = compileDatabaseClause<number>(node, rules);
    return test === undefined ? undefined : { kind: 'time', test };
  }
  // A field may be a list or not: `!=` asks that none of its members is it.
  const listFields = operator === '!=' ? [field] : [];
  const rules = { fields: [field], listFields, now, read: () => (found: AlertValue) => found };
  const test = compileDatabaseClause<AlertValue>(node, rules);
  if (test === undefined) return undefined;
  const isNull = value.toLowerCase() === 'null';
  return fieldNode(field, test, operator === '=' && !isNull ? [value] : undefined);
}

/** A field that has one of some values, whatever the case. */
export function oneOf(field: string, values: readonly string[]): QuestionNode {
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  const isWanted = (value: PlainValue): boolean => wanted.has(String(value).toLowerCase());
  return fieldNode(field, (value) => someValue(value, isWanted), [...wanted]);
}

/** One of some agents. */
export function ofAgents(numbers: AgentNumbers): QuestionNode {
  return fieldNode('agent.id', (id) => typeof id === 'string' && hasAgent(numbers, id), undefined);
}

/** A number that is no smaller. */
export function atLeast(field: string, least: number): QuestionNode {
  return fieldNode(field, (value) => typeof value === 'number' && value >= least, undefined);
}

function fieldNode(field: string, test: FieldNode['test'], values: readonly string[] | undefined): FieldNode {
  const hasWords = values !== undefined && values.length <= MAX_VALUES && !WITHOUT_WORDS.includes(field);
  const words = hasWords ? values.map(wordsOf) : undefined;
  // Of a value without words any alert may have it.
  const areKnown = words?.every((list) => list.length > 0) === true;
  const [text = '', ...others] = areKnown ? (values ?? []).map((value) => value.toLowerCase()) : [];
  return {
    ...{ kind: 'field', field, read: fieldReader(field), test },
    words: areKnown ? words : undefined,
    text: others.length === 0 && isWrittenPlainly(text) ? text : undefined,
  };
}

/** First words of a value; none where another way to write it is the same: quotes stand for any character, numbers are compared. */
function wordsOf(value: string): number[] {
  if (/['"]/.test(value)) return [];
  if (/^-?\d+(\.\d+)?$/.test(value) && String(Number(value)) !== value) return [];
  return wholeWords(value.toLowerCase());
}

/** Whether a value, or one of the members of a list, is such. */
function someValue(value: AlertValue, test: (value: PlainValue) => boolean): boolean {
  if (value === null) return false;
  return typeof value === 'object' ? value.some(test) : test(value);
}
