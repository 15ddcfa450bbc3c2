import { parseXml } from '../xml/parse-xml.js';
import type { XmlElement } from '../xml/xml-element.js';
import { type OpenedElement, XmlError } from '../xml/xml-error.js';
import { ConfigError } from './config-error.js';

/**
 * Reads the main configuration or agent.conf as elements. A `<` that cannot begin a tag is text
 * (daemons-and-config.md 1.1), and what stands inside `<query>` is text too: it is XML for somebody else.
 *
 * @param file name for errors, relative to the home
 * @throws ConfigError (1226) with the line
 */
export function readConfigurationXml(text: string, file: string): XmlElement[] {
  const placeholder = unusedCharacter(text);
  const { text: prepared, used } = hideQueryMarkup(text, placeholder);
  try {
    const roots = parseXml(prepared, file, { bareLessThan: true });
    return used ? restore(roots, placeholder) : roots;
  } catch (error) {
    if (error instanceof XmlError) {
      const { line, opened } = error;
      const reason = `Error reading XML file '${file}': ${error.message} (line ${String(line)}).`;
      throw new ConfigError(1226, reason, { file, line: opened?.line ?? line }, undefined, describeOpened(opened));
    }
    throw error;
  }
}

/** Where what is not closed was opened: the text of the reader only knows where the next thing was in the way. */
function describeOpened(opened: OpenedElement | undefined): string | undefined {
  if (opened === undefined) return undefined;
  const what = opened.name === '<!--' ? 'The comment' : `<${opened.name}>`;
  return `${what} was opened in line ${String(opened.line)} and is not closed.`;
}

/** A private-use character that the text does not have. */
function unusedCharacter(text: string): string {
  for (let code = 0xe000; code < 0xf900; code += 1) {
    const character = String.fromCharCode(code);
    if (!text.includes(character)) {
      return character;
    }
  }
  // More than 6,000 different private-use characters in one configuration: any of them will do, as nobody writes that.
  return '\uf8ff';
}

/**
 * Replaces `<` by the placeholder between `<query ...>` and `</query>`, outside comments. Line breaks are kept, so that
 * lines in errors are right.
 */
function hideQueryMarkup(text: string, placeholder: string): { readonly text: string; readonly used: boolean } {
  let result = '';
  let copied = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (text.startsWith('<!', at)) {
      at = commentEnd(text, at);
      continue;
    }
    const tagEnd = /^<query[\s>]/.test(text.slice(at, at + 7)) ? text.indexOf('>', at) : -1;
    if (tagEnd < 0 || text[tagEnd - 1] === '/') {
      at += 1;
      continue;
    }
    const end = text.indexOf('</query>', tagEnd);
    if (end < 0) {
      break;
    }
    result += text.slice(copied, tagEnd) + text.slice(tagEnd, end).replaceAll('<', placeholder);
    copied = end;
    at = end + 1;
  }
  return { text: result + text.slice(copied), used: copied > 0 };
}

/** Offset behind the comment that starts at `at`: it ends at the first `!>` or `-->`. */
export function commentEnd(text: string, at: number): number {
  for (let end = text.indexOf('>', at + 2); end >= 0; end = text.indexOf('>', end + 1)) {
    if ((text[end - 1] === '!' && end - 1 > at + 1) || (text.startsWith('--', end - 2) && end - 2 > at + 1)) {
      return end + 1;
    }
  }
  return text.length;
}

function restore(elements: readonly XmlElement[], placeholder: string): XmlElement[] {
  return elements.map((element) => ({
    ...element,
    content: element.content.replaceAll(placeholder, '<'),
    children: restore(element.children, placeholder),
  }));
}
