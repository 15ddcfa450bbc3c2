import { readFileSync } from 'node:fs';
import { productRoot } from '../../../../lib/product/product-root.js';

const SPECIFICATION = new URL('docs/spec/rest-api.md', productRoot());

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Kinds of resources of every action, as the table of rest-api.md 5.4 has them. */
export function specifiedActionTypes(): ReadonlyMap<string, readonly string[]> {
  if (known !== undefined) return known;
  const text = readFileSync(SPECIFICATION, 'utf8');
  const table = text.slice(text.indexOf('\n### 5.4 Actions'), text.indexOf('\n### 5.5 '));
  const result = new Map<string, readonly string[]>();
  for (const [, types = '', actions = ''] of table.matchAll(/^\| (\S+:.*?) \| (.*) \|$/gm)) {
    for (const action of actions.split(', ')) result.set(action, types.split(', '));
  }
  known = result;
  return result;
}
