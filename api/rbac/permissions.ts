import { type AgentScope, MAX_SCOPE_VALUE } from '../../lib/bus/contracts/db-agents.js';
import { ApiError } from '../http/api-error.js';
import type { PolicyBody } from './rbac-model.js';

export type RbacMode = 'white' | 'black';

type PermissionEntry = { readonly type: string; readonly value: string; readonly effect: 'allow' | 'deny' };

/** What one caller may do: the effective map of roles and policies (rest-api.md 5.1). */
export class Permissions {
  readonly mode: RbacMode;
  /** Those it was made of: another node that is given them comes to the same. */
  readonly policies: readonly PolicyBody[];
  readonly #entries = new Map<string, Map<string, PermissionEntry>>();
  readonly #invalid: string | undefined;

  /**
   * @param mode from the token: white denies what is not allowed, black allows what is not denied
   * @param policies of the caller's roles, in order; later ones override earlier ones
   */
  constructor(mode: RbacMode, policies: readonly PolicyBody[]) {
    this.mode = mode;
    this.policies = policies;
    for (const policy of policies) {
      for (const action of policy.actions) {
        for (const resource of policy.resources) {
          if (resource.split('&').length > 2) this.#invalid = resource;
          else this.#set(action, resource, policy.effect);
        }
      }
    }
  }

  /** Whether an action without resource is allowed (`*:*:*`). @throws ApiError 4500 for a policy that is not valid */
  allows(action: string): boolean {
    return this.allowed(action, '*:*', ['*']).size > 0;
  }

  /**
   * Whether an action is allowed on every resource of a type, those to come included.
   * @throws ApiError 4500 for a policy that is not valid
   */
  allowsAll(action: string, type: string): boolean {
    this.#refuseInvalid();
    let isAllowed = this.mode === 'black';
    for (const entry of this.#entries.get(action)?.values() ?? []) {
      if (entry.type !== type) continue;
      if (entry.value === '*') isAllowed = entry.effect === 'allow';
      else if (entry.effect === 'deny') isAllowed = false;
    }
    return isAllowed;
  }

  /**
   * Those of the given resources the action is allowed on; of agents {@link agentScope} says it.
   * @param type for example `rule:file`
   * @param wanted values, for example file names
   * @throws ApiError 4500 for a policy that is not valid
   */
  allowed(action: string, type: string, wanted: Iterable<string>): Set<string> {
    this.#refuseInvalid();
    const all = new Set(wanted);
    let result = this.mode === 'black' ? new Set(all) : new Set<string>();
    for (const entry of this.#entries.get(action)?.values() ?? []) {
      if (entry.type !== type) continue;
      if (entry.value === '*') result = entry.effect === 'allow' ? new Set(all) : new Set();
      else if (entry.effect === 'deny') result.delete(entry.value);
      else if (all.has(entry.value)) result.add(entry.value);
    }
    return result;
  }

  /**
   * The agents an action is allowed on, for svc-db to choose from: a list of all agents need not be known here.
   * @throws ApiError 4500 for a policy that is not valid
   */
  agentScope(action: string): AgentScope {
    this.#refuseInvalid();
    const steps: AgentScope['steps'] = [];
    for (const { type, value, effect } of this.#entries.get(action)?.values() ?? []) {
      // No agent and no group has a name that svc-db does not take.
      if ((type !== 'agent:id' && type !== 'agent:group') || value.length > MAX_SCOPE_VALUE) continue;
      if (value === '*') steps.push({ effect, kind: 'all' });
      else steps.push({ effect, kind: type === 'agent:id' ? 'id' : 'group', value });
    }
    return { start: this.mode === 'black' ? 'all' : 'none', steps };
  }

  /** `action -> resource -> effect`, as `GET /security/users/me/policies` shows it. */
  toMap(): Map<string, ReadonlyMap<string, 'allow' | 'deny'>> {
    const result = new Map<string, ReadonlyMap<string, 'allow' | 'deny'>>();
    for (const [action, entries] of this.#entries) {
      result.set(action, new Map([...entries].map(([resource, { effect }]) => [resource, effect])));
    }
    return result;
  }

  #refuseInvalid(): void {
    if (this.#invalid !== undefined) throw new ApiError(4500, { extra: this.#invalid });
  }

  /** A new entry moves to the end; one for everything removes the earlier ones of its type. */
  #set(action: string, resource: string, effect: 'allow' | 'deny'): void {
    let entries = this.#entries.get(action);
    if (entries === undefined) {
      entries = new Map();
      this.#entries.set(action, entries);
    }
    const cut = resource.lastIndexOf(':');
    const entry = { type: resource.slice(0, cut), value: resource.slice(cut + 1), effect };
    entries.delete(resource);
    if (entry.value === '*' && !resource.includes('&')) {
      for (const [name, { type }] of entries) {
        if (type === entry.type || (type === 'agent:group' && entry.type === 'agent:id')) entries.delete(name);
      }
    }
    entries.set(resource, entry);
  }
}
