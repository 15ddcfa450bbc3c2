import type { XmlElement } from './xml-element.js';
import { XmlError } from './xml-error.js';

/** A definition's name must be shorter than this (decoding.md 2.4). */
const MAX_DEFINED_NAME = 256;
/** A reference's name must be shorter than this. */
const MAX_REFERENCED_NAME = 255;
/** Shorter texts are never searched for variables: `$X` alone stays. */
const MIN_TEXT = 3;

/**
 * Replaces `$NAME` in contents and attribute values by the `<var name="NAME">` defined earlier in the file, and leaves
 * the definitions out of the result (decoding.md 2.4). For rules and decoders only.
 *
 * @param roots elements of one file, in document order; not changed, and the result where nothing is defined
 * @throws XmlError for a bad definition or an unknown variable, with the line of the element
 */
export function applyVariables(roots: readonly XmlElement[], file: string): readonly XmlElement[] {
  return defineSome(roots) ? applyToList(roots, new Map(), file) : roots;
}

/** Whether there is any definition: without one every text stays as it is. */
function defineSome(elements: readonly XmlElement[]): boolean {
  for (const { name, children } of elements) {
    if (isDefinition(name) || (children.length > 0 && defineSome(children))) return true;
  }
  return false;
}

function isDefinition(name: string): boolean {
  return name.length === 3 && lowerCase(name) === 'var';
}

function applyToList(elements: readonly XmlElement[], variables: Map<string, string>, file: string): XmlElement[] {
  const result: XmlElement[] = [];
  for (const element of elements) {
    if (isDefinition(element.name)) {
      define(element, variables, file);
      continue;
    }
    // The order matters: a variable defined among the children is not known in the element's own texts.
    const content = substitute(element.content, variables, file, element.line);
    const attributes = element.attributes.map(({ name, value }) => ({
      name,
      value: substitute(value, variables, file, element.line),
    }));
    const children = element.children.length === 0 ? [] : applyToList(element.children, variables, file);
    result.push({ ...element, attributes, content, children });
  }
  return result;
}

function define(element: XmlElement, variables: Map<string, string>, file: string): void {
  const attribute = element.attributes[0];
  if (attribute === undefined) {
    throw new XmlError(file, element.line, 'XMLERR: No value set for variable.');
  }
  if (element.attributes.some(({ name }) => lowerCase(name) !== 'name')) {
    throw new XmlError(file, element.line, 'XMLERR: Only "name" is allowed as an attribute for a variable.');
  }
  if (element.children.length > 0) {
    throw new XmlError(file, element.line, 'XMLERR: Invalid variable content.');
  }
  if (attribute.value.length >= MAX_DEFINED_NAME) {
    throw new XmlError(file, element.line, 'XMLERR: Invalid variable name size.');
  }
  const name = lowerCase(attribute.value);
  // The first definition of a name stays in force.
  if (!variables.has(name)) {
    variables.set(name, element.content);
  }
}

function substitute(text: string, variables: ReadonlyMap<string, string>, file: string, line: number): string {
  if (variables.size === 0 || text.length < MIN_TEXT) {
    return text;
  }
  let dollar = text.indexOf('$');
  if (dollar < 0) {
    return text;
  }
  let result = '';
  let copied = 0;
  while (dollar >= 0) {
    const end = nameEnd(text, dollar + 1);
    const name = text.slice(dollar + 1, end);
    // A `$` alone, and the placeholder `$(field)` of descriptions, are ordinary text.
    if (name !== '' && !name.startsWith('(')) {
      if (name.length >= MAX_REFERENCED_NAME) {
        throw new XmlError(file, line, `XMLERR: Invalid variable name size: '${String(name.length)}'.`);
      }
      const value = variables.get(lowerCase(name));
      if (value === undefined) {
        throw new XmlError(file, line, `XMLERR: Unknown variable: '${name.slice(0, 95)}'.`);
      }
      result += text.slice(copied, dollar) + value;
      copied = end;
      dollar = text.indexOf('$', end);
    } else {
      dollar = text.indexOf('$', dollar + 1);
    }
  }
  return result + text.slice(copied);
}

function nameEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !'$.|, '.includes(text.charAt(at))) {
    at += 1;
  }
  return at;
}

/** Lower case of ASCII letters only: texts are byte strings. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
