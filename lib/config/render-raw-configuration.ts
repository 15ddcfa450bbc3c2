import { SECRET_OPTIONS } from './secret-options.js';

/** Stands for a secret. */
export const MASK = '*****';

/**
 * The text of the configuration file for `GET /manager/configuration?raw=true` (daemons-and-config.md 1.3).
 * @param secrets false masks the cluster key and other secrets: the caller may not change the configuration
 */
export function renderRawConfiguration(text: string, secrets: boolean): string {
  if (secrets) {
    return text;
  }
  const withoutKey = replaceContents(text, 'cluster', (body) => replaceContents(body, 'key', () => MASK));
  return SECRET_OPTIONS.reduce((masked, name) => replaceContents(masked, name, () => MASK), withoutKey);
}

/**
 * Replaces what stands between an opening tag and the next closing tag of the name, or the end of the text when there is
 * none: a broken file shows less rather than more. Works on text that is no XML, in linear time.
 */
function replaceContents(text: string, name: string, replace: (content: string) => string): string {
  const opening = new RegExp(`<${name}(?:\\s[^<>]*)?>`, 'gi');
  const closing = new RegExp(`</${name}\\s*>`, 'gi');
  let result = '';
  let copied = 0;
  for (let tag = opening.exec(text); tag !== null; tag = opening.exec(text)) {
    const start = opening.lastIndex;
    closing.lastIndex = start;
    const end = closing.exec(text)?.index ?? text.length;
    const content = text.slice(start, end);
    result += text.slice(copied, start) + (content === '' ? '' : replace(content));
    copied = end;
    opening.lastIndex = end;
  }
  return result + text.slice(copied);
}
