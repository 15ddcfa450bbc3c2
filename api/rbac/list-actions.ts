import type { Operation } from '../../lib/contract/api-contract.js';
import { ACTIONS } from './action-catalogue.js';

/** An action as `GET /security/actions` shows it (rest-api.md 6.9). */
export type ActionItem = {
  readonly description: string;
  readonly resources: readonly string[];
  readonly example: { readonly actions: string[]; readonly resources: string[]; readonly effect: 'allow' | 'deny' };
  readonly related_endpoints: readonly string[];
};

/** How an operation is written there. */
export function endpointName({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** Every action with the operations of the contract that need it. @param endpoint of this one alone, `GET /agents` */
export function listActions(operations: readonly Operation[], endpoint?: string): Record<string, ActionItem> {
  const result: Record<string, ActionItem> = {};
  for (const [action, [description, resources]] of Object.entries(ACTIONS)) {
    const related = operations.filter(({ actions }) => actions.includes(action)).map(endpointName);
    if (endpoint !== undefined && !related.includes(endpoint)) continue;
    result[action] = {
      description,
      resources,
      example: { actions: [action], resources: resources.map(exampleOf), effect: 'allow' },
      related_endpoints: related,
    };
  }
  return result;
}

/** A resource of a kind. */
function exampleOf(type: string): string {
  const values: Readonly<Record<string, string>> = {
    '*:*': '*',
    'agent:id': '001',
    'agent:group': 'web',
    'group:id': 'web',
    'node:id': 'node01',
    'decoder:file': 'local_decoder.xml',
    'list:file': 'blocked-hosts',
    'rule:file': 'local_rules.xml',
  };
  return `${type}:${values[type] ?? '100'}`;
}
