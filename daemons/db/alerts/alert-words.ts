import type { AlertJson } from './alert-fields.js';

/** Members that are not looked into: they differ in each alert, and other ways lead to them. */
export const LEFT_OUT = ['id', 'timestamp'];
/** Between two values: no word, and in no phrase. */
const BETWEEN = '\u0000';
/** Deeper values are not looked into: alerts that nest like that are made to exhaust the stack. */
const MAX_DEPTH = 64;

/** Parts of an address. */
const ADDRESS_PARTS = 4;
const LONGEST_ADDRESS_PART = 3;
const DOT = 0x2e;

/** Values of an alert, one behind the other and in lower case: what `search` looks into. */
export function alertText(alert: AlertJson): string {
  let text = '';
  for (const name of Object.keys(alert)) {
    if (!LEFT_OUT.includes(name)) text += valueText(alert[name], 0);
  }
  return text.toLowerCase();
}

function valueText(value: unknown, depth: number): string {
  if (typeof value === 'string') return value + BETWEEN;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value) + BETWEEN;
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return '';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += valueText(item, depth + 1);
  } else {
    for (const name of Object.keys(value)) text += valueText((value as Record<string, unknown>)[name], depth + 1);
  }
  return text;
}

/** Whether a character belongs to a word: ASCII letters and digits, `_`, and all beyond ASCII. */
export function isWordCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code >= 0x80 || isUpper(code)
  );
}

function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

/** FNV-1a. */
const FIRST_HASH = 0x811c9dc5;
const FACTOR = 0x01000193;

/**
 * Calls `visit` with a number of 32 bits for each word of a text, and for four numbers with dots between them, an address: its words
 * alone are in every text. Different words seldom have one number.
 * @param text in lower case, but for ASCII letters
 * @param from where it begins, and `to` where it ends, within something longer
 */
export function visitWords(text: string, visit: (hash: number) => void, from = 0, to = text.length): void {
  /** Where the last parts of an address begin, as far as there is a dot between each. */
  const starts = [0, 0, 0, 0];
  let parts = 0;
  for (let at = from; at < to; at += 1) {
    let code = text.charCodeAt(at);
    if (!isWordCode(code)) continue;
    const start = at;
    let isNumber = true;
    let hash = FIRST_HASH;
    while (isWordCode(code)) {
      if (code < 0x30 || code > 0x39) isNumber = false;
      hash = Math.imul(hash ^ (isUpper(code) ? code + 0x20 : code), FACTOR);
      at += 1;
      if (at >= to) break;
      code = text.charCodeAt(at);
    }
    visit(stirred(hash));
    if (!isNumber || at - start > LONGEST_ADDRESS_PART) {
      parts = 0;
      continue;
    }
    if (parts > 0 && !(text.charCodeAt(start - 1) === DOT && isWordCode(text.charCodeAt(start - 2)))) parts = 0;
    starts[parts % ADDRESS_PARTS] = start;
    parts += 1;
    if (parts >= ADDRESS_PARTS) visit(hashOf(text, starts[parts % ADDRESS_PARTS] ?? start, at));
  }
}

/** Of digits and dots. */
function hashOf(text: string, from: number, to: number): number {
  let hash = FIRST_HASH;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR);
  return stirred(hash);
}

/** So that the high bits are as good as the low ones. */
function stirred(hash: number): number {
  let stirring = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  stirring = Math.imul(stirring ^ (stirring >>> 13), 0xc2b2ae35);
  return (stirring ^ (stirring >>> 16)) >>> 0;
}
