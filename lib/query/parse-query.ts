import { QueryError } from './query-error.js';

export type QueryOperator = '=' | '!=' | '<' | '>' | '~';

/** `field op value`. */
export type QueryClause = {
  readonly kind: 'clause';
  readonly field: string;
  readonly operator: QueryOperator;
  readonly value: string;
};

/** A query as a tree; `;` binds tighter than `,`. */
export type QueryNode =
  | QueryClause
  | { readonly kind: 'and' | 'or'; readonly parts: readonly [QueryNode, ...QueryNode[]] };

/** Nested parentheses at most: deeper queries are made to exhaust the stack. */
const MAX_DEPTH = 32;
const FIELD = /[\p{L}\p{N}_.-]+/uy;
const OPERATOR = /!=|[=<>~]/y;
/** Characters of a value besides parentheses and, inside brackets, commas (rest-api.md 4.4). */
const VALUE_CHARACTER = /[\p{L}\p{N}\s_\-.:?\\/'"=@%<>{}[\]$]/u;

/**
 * Parses `q` (rest-api.md 4.4). Parentheses group; inside a value they must be balanced.
 * @param errorText makes the text of a refusal from the clause that is wrong
 * @throws QueryError 1407
 */
export function parseQuery(text: string, errorText: (clause: string) => string): QueryNode {
  const parser = new QueryParser(text, errorText);
  return parser.parse();
}

class QueryParser {
  readonly #text: string;
  readonly #errorText: (clause: string) => string;
  #position = 0;
  #depth = 0;

  constructor(text: string, errorText: (clause: string) => string) {
    this.#text = text;
    this.#errorText = errorText;
  }

  parse(): QueryNode {
    const node = this.#or();
    if (this.#position < this.#text.length) this.#refuse();
    return node;
  }

  #or(): QueryNode {
    return this.#list('or', ',', () => this.#list('and', ';', () => this.#factor()));
  }

  #list(kind: 'and' | 'or', separator: string, part: () => QueryNode): QueryNode {
    const parts: [QueryNode, ...QueryNode[]] = [part()];
    while (this.#text[this.#position] === separator) {
      this.#position += 1;
      parts.push(part());
    }
    return parts.length === 1 ? parts[0] : { kind, parts };
  }

  #factor(): QueryNode {
    this.#skipBlanks();
    if (this.#text[this.#position] !== '(') return this.#clause();
    this.#position += 1;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#refuse();
    const node = this.#or();
    if (this.#text[this.#position] !== ')') this.#refuse();
    this.#position += 1;
    this.#depth -= 1;
    this.#skipBlanks();
    return node;
  }

  #clause(): QueryClause {
    const start = this.#position;
    const field = this.#match(FIELD);
    this.#skipBlanks();
    const operator = this.#match(OPERATOR) as QueryOperator | undefined;
    const value = this.#value();
    if (field === undefined || operator === undefined || value === '') this.#refuse(start);
    return { kind: 'clause', field, operator, value };
  }

  /** Up to a separator or a parenthesis that closes a group. */
  #value(): string {
    const start = this.#position;
    let parentheses = 0;
    let brackets = 0;
    for (; this.#position < this.#text.length; this.#position += 1) {
      const character = this.#text[this.#position] ?? '';
      if (character === '(') {
        parentheses += 1;
      } else if (character === ')') {
        if (parentheses === 0) break;
        parentheses -= 1;
      } else if (character === ';') {
        break;
      } else if (character === ',') {
        if (brackets === 0) break;
      } else if (!isValueCharacter(character)) {
        this.#refuse(start);
      } else if (character === '[') {
        brackets += 1;
      } else if (character === ']' && brackets > 0) {
        brackets -= 1;
      }
    }
    if (parentheses > 0) this.#refuse(start);
    return this.#text.slice(start, this.#position).trim();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#position += found.length;
    return found;
  }

  #skipBlanks(): void {
    while (this.#text[this.#position] === ' ') this.#position += 1;
  }

  #refuse(position = this.#position): never {
    const before = Math.max(this.#text.lastIndexOf(';', position - 1), this.#text.lastIndexOf(',', position - 1));
    const ends = [';', ','].map((mark) => this.#text.indexOf(mark, position)).filter((end) => end >= 0);
    const clause = this.#text.slice(before + 1, Math.min(this.#text.length, ...ends));
    throw new QueryError(1407, { extra: this.#errorText(clause) });
  }
}

/** Halves of characters outside the basic plane pass: they are letters more often than not. */
function isValueCharacter(character: string): boolean {
  return VALUE_CHARACTER.test(character) || (character >= '\ud800' && character <= '\udfff');
}
