import { BusError } from '../../../lib/bus/bus-error.js';
import { isWordCode, visitWords } from './alert-words.js';

/** What is looked for in the values of an alert. */
export type SearchTerm = {
  /** In lower case. */
  readonly text: string;
  /** It begins a word and need not end one. */
  readonly isPrefix: boolean;
  /** Alerts with it are left out. */
  readonly isExcluded: boolean;
  /** Numbers of its first words (alert-words.ts): an alert without one of them has not got it. */
  readonly hashes: readonly number[];
};

/** Terms of one search: each is looked for in every text. */
const MAX_TERMS = 32;
/** Words of one term or value that are looked for: each costs a look at all segments, and a few leave hardly more alerts than all do. */
const MAX_WORDS = 8;
const TERM = /(-?)(?:"([^"]*)"|([^\s"]+))\s*/y;

/**
 * Reads `search`: words and "phrases" that must all occur, `-` in front of what must not, `*` behind the beginning of a word.
 * @throws BusError `bad_search`
 */
export function parseSearch(search: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  const text = search.trim().toLowerCase();
  for (let at = 0; at < text.length; at = TERM.lastIndex) {
    TERM.lastIndex = at;
    const [, sign, phrase, word] = TERM.exec(text) ?? [];
    const term = phrase ?? word?.replace(/\*$/, '');
    if (term === undefined || term === '') {
      throw new BusError('bad_search', `search cannot be read from '${text.slice(at, at + 40)}' on`);
    }
    if (terms.length === MAX_TERMS) throw new BusError('bad_search', `search has more than ${String(MAX_TERMS)} terms`);
    const isPrefix = phrase === undefined && word !== term;
    terms.push({ text: term, isPrefix, isExcluded: sign === '-', hashes: wholeWords(term, isPrefix) });
  }
  return terms;
}

/** Numbers of words, the first 8, that a text must have in which all of another occurs between ends of words. */
export function wholeWords(text: string, isPrefix = false): number[] {
  // The last word of a prefix may be longer where it occurs.
  let end = text.length;
  while (isPrefix && end > 0 && isWordCode(text.charCodeAt(end - 1))) end -= 1;
  const hashes = new Set<number>();
  visitWords(text.slice(0, end), (hash) => {
    if (hashes.size < MAX_WORDS) hashes.add(hash);
  });
  return [...hashes];
}

/** Whether a term occurs in the text of an alert (`alertText`): neither cuts a word, but for the end of a prefix. */
export function occurs({ text: term, isPrefix }: SearchTerm, text: string): boolean {
  const opens = isWordCode(term.charCodeAt(0));
  const closes = !isPrefix && isWordCode(term.charCodeAt(term.length - 1));
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    const end = at + term.length;
    if (opens && at > 0 && isWordCode(text.charCodeAt(at - 1))) continue;
    if (closes && end < text.length && isWordCode(text.charCodeAt(end))) continue;
    return true;
  }
  return false;
}

/** Characters that JSON writes as they are, so that they can be looked for in it. */
const UNESCAPED = /^[a-z0-9_ .:@-]+$/;

/** Whether JSON of an alert that has a text, in lower case, has its characters side by side, perhaps in another case. */
export function isWrittenPlainly(text: string): boolean {
  return UNESCAPED.test(text);
}
