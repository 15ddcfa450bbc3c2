import type { XmlElement } from '../xml/xml-element.js';

/** Content of the last child with this name. */
export function lastContent(block: XmlElement, name: string): string | undefined {
  return block.children.findLast((child) => child.name === name)?.content;
}
