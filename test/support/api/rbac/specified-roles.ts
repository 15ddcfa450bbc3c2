import { readFileSync } from 'node:fs';
import { productRoot } from '../../../../lib/product/product-root.js';
import type { ReferencePolicy } from './reference-evaluator.js';

const SPECIFICATION = new URL('docs/spec/rest-api.md', productRoot());

export type SpecifiedRole = {
  readonly id: number;
  readonly name: string;
  readonly policies: readonly ReferencePolicy[];
};

/** The built-in roles with their policies in order, as rest-api.md 5.5 has them. */
export function specifiedRoles(): readonly SpecifiedRole[] {
  const text = readFileSync(SPECIFICATION, 'utf8');
  const section = text.slice(text.indexOf('\n### 5.5 Defaults'), text.indexOf('\n### 5.6 '));
  const policies = new Map<string, ReferencePolicy>();
  for (const [, id = '', actions = '', resources = ''] of section.matchAll(/^\| (\d+) \| \w+ \| (.*) \| (.*) \|$/gm)) {
    policies.set(id, { actions: actions.split(', '), resources: resources.split(', '), effect: 'allow' });
  }
  const roles = section.slice(section.indexOf('Roles (ids;'), section.indexOf('Security rules:'));
  return [...roles.matchAll(/(\d+) (\w+) (\d+(?:,\d+)*)(?=[ .]|$)/gm)].flatMap(([, id, name = '', list = '']) => {
    // The ids of rules and users in brackets are no role.
    if (name === 'users' || name === 'rules') return [];
    const own = list.split(',').map((one) => policies.get(one));
    if (own.some((one) => one === undefined)) throw new Error(`role ${name} has policies that the table does not have`);
    return [{ id: Number(id), name, policies: own as ReferencePolicy[] }];
  });
}
