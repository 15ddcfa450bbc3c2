import type { Operation } from '../../lib/contract/api-contract.js';
import type { CallerRights } from '../auth/authenticator.js';
import type { ParameterValues } from '../http/parameter-values.js';
import type { NodeIdentity } from '../manager/manager-configuration.js';
import { deniedError } from './denied-error.js';
import type { Permissions } from './permissions.js';
import type { Permitted } from './permitted.js';
import { PermittedAgents } from './permitted-agents.js';
import { PermittedIds } from './permitted-ids.js';
import { kindOf, permittedName, type Requirement, requirementsOf } from './requirements.js';

/**
 * The one place where it is decided what a caller may do (rest-api.md 5.2): it stands in front of the handlers, reads what an operation
 * needs from its declaration in the contract, and hands on what of it is allowed.
 */
export class PermissionCheck {
  readonly #requirements: ReadonlyMap<string, readonly Requirement[]>;
  readonly #node: () => NodeIdentity;

  /** @param node this manager in the cluster @throws Error for a contract whose declarations mean nothing */
  constructor(operations: readonly Operation[], node: () => NodeIdentity) {
    this.#requirements = new Map(operations.map((operation) => [operation.id, requirementsOf(operation)]));
    this.#node = node;
  }

  /**
   * What the caller may use of what the request is about.
   * @throws ApiError 4000 when that is nothing, 4500 for a policy that is not valid
   */
  permit(operation: Operation, parameters: ParameterValues, caller: CallerRights | undefined): Permitted {
    const requirements = this.#requirements.get(operation.id);
    if (requirements === undefined) throw new Error(`${operation.id} is not in the contract`);
    // Logins have no token yet; the contract asks nothing of them.
    if (caller === undefined) return {};
    const { permissions } = caller;
    const permitted: Record<string, PermittedAgents | PermittedIds | boolean> = {};
    for (const requirement of requirements) {
      const name = permittedName(requirement);
      const part = this.#decide(permissions, requirement, parameters);
      if (name !== undefined && part !== undefined) permitted[name] = part;
    }
    if (operation.secrets !== undefined) {
      permitted['secrets'] = this.#allowsHere(permissions, this.#here(operation.secrets));
    }
    if (operation.whole.length > 0) {
      permitted['whole'] = operation.whole.every((action) => permissions.allowsAll(action, kindOf(action)));
    }
    return permitted;
  }

  #decide(
    permissions: Permissions,
    requirement: Requirement,
    parameters: ParameterValues,
  ): PermittedAgents | PermittedIds | undefined {
    const { actions, resource, source } = requirement;
    if (source.kind === 'none' || source.kind === 'this-node') {
      for (const action of actions) {
        const here = this.#here(action);
        if (!this.#allowsHere(permissions, here)) throw deniedError(here.resource);
      }
      return undefined;
    }
    const named = namedBy(requirement, parameters);
    if (resource !== 'agent:id') return new PermittedIds({ permissions, requirement, named });
    const [action = ''] = actions;
    return new PermittedAgents(permissions.agentScope(action), named);
  }

  /** Whether an action without resource is allowed, or one on this node. */
  #allowsHere(permissions: Permissions, { action, resource }: ActionHere): boolean {
    if (resource === '*:*') return permissions.allows(action);
    const { name } = this.#node();
    return permissions.allowed(action, resource, [name]).has(name);
  }

  /** With a cluster the twin on this node counts for an action on the manager (rest-api.md 5.4). */
  #here(action: string): ActionHere {
    const isManager = action.startsWith('manager:');
    if (isManager && this.#node().clusterEnabled) {
      return { action: action.replace('manager:', 'cluster:'), resource: 'node:id' };
    }
    return { action, resource: kindOf(action) };
  }
}

/** An action that is asked for without ids. */
type ActionHere = { readonly action: string; readonly resource: string };

/** What a request names of the resources; undefined when it means all. */
function namedBy({ source }: Requirement, parameters: ParameterValues): readonly string[] | undefined {
  if (source.kind !== 'parameter') return undefined;
  const value = parameters[source.name];
  if (value === undefined) return undefined;
  const named = Array.isArray(value) ? value.map(String) : [String(value)];
  return source.takesAll && named.includes('all') ? undefined : named;
}
