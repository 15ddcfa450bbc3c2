/**
 * A value of JSON as Python's `str()` shows it: what the phases of logtest print for lists and booleans
 * (rules-and-alerts.md 9.8). A text on its own stands as it is; within a list it is quoted.
 */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonNotation(value);
}

/** A value of JSON as Python's `repr()` shows it. */
export function pythonNotation(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(pythonNotation).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([name, member]) => `${quoted(name)}: ${pythonNotation(member)}`)
    .join(', ')}}`;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\\', '\\\\'],
]);
/** What Python does not print as it is: everything but letters, marks, numbers, signs and the plain space. */
const UNPRINTABLE = /[\\]|(?! )[\p{C}\p{Z}]/gu;

/** Single quotes, unless the text has such and no double ones. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(UNPRINTABLE, (character) => SHORT_ESCAPES.get(character) ?? escapeOf(character));
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
