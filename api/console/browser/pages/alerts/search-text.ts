import { type Changes, filterNamed, FILTERS } from '../../client/alert-filters.js';

/** A word of the search, as somebody writes it: `srcip:10.0.0.1`, `-rule_ids:5710`, `location:"/var/log/my log"`, or a word to look for. */
type Token = { readonly text: string; readonly isWanted: boolean; readonly name: string; readonly value: string };

/** What could be meant by the last word: a filter, or a value of one. */
export type Completion =
  | { readonly kind: 'name'; readonly prefix: string; readonly names: readonly string[] }
  | {
      readonly kind: 'value';
      readonly name: string;
      readonly path: string;
      readonly isWanted: boolean;
      readonly prefix: string;
    };

const TOKEN = /-?[\w.-]+:"[^"]*"?|-?"[^"]*"?|\S+/g;

/**
 * Takes what was typed apart: filters with a name go where they belong, the rest are words to look for.
 * @param params filters that hold already
 * @returns undefined where nothing changes
 */
export function readSearch(params: URLSearchParams, text: string): Changes {
  const words: string[] = [];
  const after = new URLSearchParams(params);
  const changes: Record<string, string | undefined> = {};
  for (const token of tokensOf(text)) {
    const filter = token.name === '' ? undefined : filterNamed(after, token.name, token.value, token.isWanted);
    if (filter === undefined) {
      words.push(token.text);
      continue;
    }
    Object.assign(changes, filter);
    for (const [name, value] of Object.entries(filter)) {
      if (value === undefined) after.delete(name);
      else after.set(name, value);
    }
  }
  return { ...changes, search: words.length === 0 ? undefined : words.join(' ') };
}

/** What the last word of a text may become. */
export function completionOf(text: string): Completion {
  const last = /\s$/.test(text) ? undefined : tokensOf(text).at(-1);
  if (last !== undefined && last.name !== '') {
    const field = FILTERS.find(({ name }) => name === last.name);
    if (field !== undefined) {
      const { name, path } = field;
      return { kind: 'value', name, path, isWanted: last.isWanted, prefix: last.value };
    }
  }
  const prefix = (last?.text ?? '').replace(/^-/, '').toLowerCase();
  const names = FILTERS.map(({ name }) => name).filter((name) => name.toLowerCase().includes(prefix));
  // What begins so stands before what has it somewhere.
  const isFirst = (name: string) => name.toLowerCase().startsWith(prefix);
  return { kind: 'name', prefix, names: [...names.filter(isFirst), ...names.filter((name) => !isFirst(name))] };
}

/** The text with another last word. */
export function withLast(text: string, word: string): string {
  const last = /\s$/.test(text) ? undefined : tokensOf(text).at(-1);
  const before = last === undefined ? text : text.slice(0, text.length - last.text.length);
  const sign = last !== undefined && !last.isWanted ? '-' : '';
  return word === '' ? before.trimEnd() : `${before}${sign}${word}`;
}

function tokensOf(text: string): Token[] {
  return (text.match(TOKEN) ?? []).map((word) => {
    const [, sign = '', name = '', quoted, plain = ''] =
      /^(-?)([A-Za-z_][\w.-]*):(?:"([^"]*)"?|(.*))$/.exec(word) ?? [];
    return { text: word, isWanted: name === '' ? !word.startsWith('-') : sign === '', name, value: quoted ?? plain };
  });
}
