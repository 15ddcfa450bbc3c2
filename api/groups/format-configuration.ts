import { ConfigError } from '../../lib/config/config-error.js';
import { commentEnd, readConfigurationXml } from '../../lib/config/read-configuration-xml.js';
import type { XmlElement } from '../../lib/xml/xml-element.js';

const INDENT = '  ';
/** Deeper levels are laid out like this one: a million elements in each other must not become gigabytes of blanks. */
const MAX_INDENTED_DEPTH = 16;

/**
 * Lays a configuration file out with two blanks a level, one element a line (rest-api.md 6.3). Elements without children
 * and comments stay as they are written. A text that would be read differently then is left as it is.
 * @param file name for errors
 * @throws ConfigError (1226) with the line
 */
export function formatConfiguration(text: string, file: string): string {
  const elements = readConfigurationXml(text, file);
  const lines: string[] = [];
  layOut(text, { from: 0, to: text.length, elements, depth: 0 }, lines);
  const result = lines.map((line) => `${line}\n`).join('');
  return readsTheSame(result, file, elements) ? result : text;
}

type ElementRange = {
  readonly from: number;
  readonly to: number;
  readonly elements: readonly XmlElement[];
  readonly depth: number;
};

function layOut(text: string, { from, to, elements, depth }: ElementRange, lines: string[]): void {
  const indent = INDENT.repeat(Math.min(depth, MAX_INDENTED_DEPTH));
  const add = (start: number, end: number): void => {
    const piece = text.slice(start, end).trim();
    if (piece !== '') lines.push(indent + piece);
  };
  let at = from;
  for (const { start, end, innerStart, innerEnd, children } of elements) {
    addBetween(text, at, start, add);
    if (children.length === 0) {
      add(start, end);
    } else {
      add(start, innerStart);
      layOut(text, { from: innerStart, to: innerEnd, elements: children, depth: depth + 1 }, lines);
      add(innerEnd, end);
    }
    at = end;
  }
  addBetween(text, at, to, add);
}

/** What stands between elements: comments, and text that nobody reads. */
function addBetween(text: string, from: number, to: number, add: (start: number, end: number) => void): void {
  let at = from;
  // Only here: what follows may be long, and is looked at once for every gap otherwise.
  const gap = text.slice(from, to);
  for (let comment = gap.indexOf('<!'); comment >= 0; comment = gap.indexOf('<!', at - from)) {
    add(at, from + comment);
    const end = commentEnd(text, from + comment);
    add(from + comment, end);
    at = end;
  }
  add(at, to);
}

function readsTheSame(text: string, file: string, elements: readonly XmlElement[]): boolean {
  try {
    return isSame(readConfigurationXml(text, file), elements);
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function isSame(left: readonly XmlElement[], right: readonly XmlElement[]): boolean {
  if (left.length !== right.length) return false;
  return left.every((element, index) => {
    const other = right[index];
    if (other === undefined || element.name !== other.name) return false;
    if (JSON.stringify(element.attributes) !== JSON.stringify(other.attributes)) return false;
    // Around children white space may change.
    const around = other.children.length > 0;
    const [content, expected] = [element.content, other.content].map((value) => (around ? value.trim() : value));
    return content === expected && isSame(element.children, other.children);
  });
}
