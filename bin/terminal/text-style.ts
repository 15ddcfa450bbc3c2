/** Marks parts of a text for where it is shown. */
export type TextStyle = {
  heading(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  faint(text: string): string;
  /** A text from outside: a log must not be able to steer the terminal it is shown on. */
  foreign(text: string): string;
};

const asIs = (text: string): string => text;
const FILE: TextStyle = { heading: asIs, good: asIs, bad: asIs, faint: asIs, foreign: asIs };

const CONTROL = /(?![\t\n])[\p{Cc}\p{Cf}]/gu;
const visible = (text: string): string =>
  text.replace(CONTROL, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16);
    return hex.length > 2 ? `\\u{${hex}}` : `\\x${hex.padStart(2, '0')}`;
  });
const PLAIN: TextStyle = { ...FILE, foreign: visible };

const marked =
  (code: number) =>
  (text: string): string =>
    `\u001b[${String(code)}m${text}\u001b[0m`;
const COLOURED: TextStyle = { ...PLAIN, heading: marked(1), good: marked(32), bad: marked(31), faint: marked(2) };

/**
 * Texts for files and pipes stay as they are; those for a terminal show control characters as escapes and have colours,
 * unless the terminal is a dumb one or there is a `NO_COLOR` that is not empty.
 */
export function textStyle(terminal: boolean, environment: NodeJS.ProcessEnv): TextStyle {
  if (!terminal) return FILE;
  return (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb' ? PLAIN : COLOURED;
}
