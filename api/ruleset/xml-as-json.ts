import type { XmlElement } from '../../lib/xml/xml-element.js';

/** An element as JSON: attributes `@name`, text `#text`, children by name. An element that is only text is that text. */
export type XmlJson = string | null | XmlJsonObject | readonly XmlJson[];
export interface XmlJsonObject {
  readonly [key: string]: XmlJson;
}

/**
 * The elements of a file as `GET /rules/files/{name}` and `GET /decoders/files/{name}` show them (rest-api.md 6.5, 6.6):
 * repeated elements become arrays. Objects have no prototype: names come from files.
 */
export function xmlAsJson(roots: readonly XmlElement[]): XmlJsonObject {
  const result = Object.create(null) as Record<string, XmlJson>;
  addChildren(result, roots);
  return result;
}

function elementAsJson(element: XmlElement): XmlJson {
  const text = element.content.trim();
  if (element.attributes.length === 0 && element.children.length === 0) {
    return text === '' ? null : text;
  }
  const result = Object.create(null) as Record<string, XmlJson>;
  for (const { name, value } of element.attributes) {
    result[`@${name}`] = value;
  }
  addChildren(result, element.children);
  if (text !== '') {
    result['#text'] = text;
  }
  return result;
}

function addChildren(result: Record<string, XmlJson>, children: readonly XmlElement[]): void {
  const byName = new Map<string, XmlJson[]>();
  for (const child of children) {
    const value = elementAsJson(child);
    const values = byName.get(child.name);
    if (values === undefined) {
      byName.set(child.name, [value]);
    } else {
      values.push(value);
    }
  }
  for (const [name, values] of byName) {
    result[name] = values.length === 1 ? (values[0] ?? null) : values;
  }
}
