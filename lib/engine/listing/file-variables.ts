import type { XmlElement } from '../../xml/xml-element.js';

/** `$NAME` to value, for the `<var name="NAME">` elements at the top of a file. */
export type FileVariables = ReadonlyMap<string, string>;

/** Variables of a file for the listing, which knows only texts that are a reference as a whole (rules-and-alerts.md 10.2). */
export function fileVariables(roots: readonly XmlElement[]): FileVariables {
  const variables = new Map<string, string>();
  for (const root of roots) {
    if (root.name.toLowerCase() !== 'var') {
      continue;
    }
    const name = root.attributes.find((attribute) => attribute.name.toLowerCase() === 'name')?.value;
    // As in the engine, the first definition counts and names ignore case.
    if (name !== undefined && !variables.has(`$${name.toLowerCase()}`)) {
      variables.set(`$${name.toLowerCase()}`, root.content);
    }
  }
  return variables;
}

/** The value when the text is one reference, else the text. */
export function resolveVariable(text: string, variables: FileVariables): string {
  return text.startsWith('$') ? (variables.get(text.toLowerCase()) ?? text) : text;
}
