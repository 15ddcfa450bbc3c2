/** Nesting shown of a value in an error text; a deeper body must not make a longer text. */
const MAX_DEPTH = 8;
/** Characters shown of one text in an error text: what came in may have megabytes. */
const MAX_TEXT = 512;

/**
 * A value in the notation that the API's validation texts use (rest-api.md 4.2): `'text'`, `True`, `None`, `{'a': 1}`.
 * Long texts and deep values are cut with `...`.
 */
export function pythonText(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return '...';
  if (Array.isArray(value)) return `[${cut(value, (item) => pythonText(item, depth + 1))}]`;
  return `{${cut(Object.entries(value), ([key, item]) => `${quote(key)}: ${pythonText(item, depth + 1)}`)}}`;
}

/** Names as a set in the same notation: `{'a', 'b'}`. */
export function pythonSet(names: readonly string[]): string {
  return `{${names.map(quote).join(', ')}}`;
}

function cut<T>(items: readonly T[], show: (item: T) => string): string {
  const shown = items.slice(0, 32).map(show);
  if (items.length > shown.length) shown.push('...');
  return shown.join(', ');
}

function quote(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
  const mark = short.includes("'") && !short.includes('"') ? '"' : "'";
  const escaped = short.replace(/[\\'\u0000-\u001f\u007f-\u00a0\u00ad\u2028\u2029\ud800-\udfff]/gu, (character) => {
    if (character === "'") return mark === "'" ? "\\'" : "'";
    if (character === '\\') return '\\\\';
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    if (character === '\t') return '\\t';
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `${mark}${escaped}${mark}`;
}
