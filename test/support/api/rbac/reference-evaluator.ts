export type ReferenceMode = 'white' | 'black';

/** A policy as clients write it. */
export type ReferencePolicy = {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly effect: 'allow' | 'deny';
};

/**
 * What a caller may do, written down from rest-api.md 5.1 sentence by sentence and slow: the product is held against it, so nothing of the product is
 * used here.
 */
export class ReferenceEvaluator {
  constructor(
    private readonly mode: ReferenceMode,
    private readonly policies: readonly ReferencePolicy[],
    /** Groups of an agent; none for an id that no agent has. */
    private readonly groupsOf: (agent: string) => readonly string[],
  ) {}

  /** @param type of the resource that is wanted, such as `agent:id`; `*:*` with the value `*` is no resource */
  may(action: string, type: string, value: string): boolean {
    // "White mode starts with nothing allowed, black mode with everything allowed; entries in order."
    let allowed = this.mode === 'black';
    for (const { resource, effect } of this.#entries(action)) {
      if (this.#matches(resource, type, value)) allowed = effect === 'allow';
    }
    return allowed;
  }

  /** Entries of the effective map for an action, in order. */
  #entries(action: string): { resource: string; effect: 'allow' | 'deny' }[] {
    let entries: { resource: string; effect: 'allow' | 'deny' }[] = [];
    for (const policy of this.policies.filter(({ actions }) => actions.includes(action))) {
      for (const resource of policy.resources) {
        // "A new entry first removes an identical one (so it moves to the end)."
        entries = entries.filter((entry) => entry.resource !== resource);
        // "One with value `*` removes all earlier single resources of the same type (agent:* also removes agent:group)."
        if (resource.endsWith(':*') && !resource.includes('&')) {
          const types = [resource.slice(0, -1), ...(resource === 'agent:id:*' ? ['agent:group:'] : [])];
          entries = entries.filter((entry) => !types.some((type) => entry.resource.startsWith(type)));
        }
        entries.push({ resource, effect: policy.effect });
      }
    }
    return entries;
  }

  #matches(resource: string, type: string, value: string): boolean {
    // A pair matches a pair only, and no operation asks for one.
    if (resource.includes('&')) return false;
    if (resource === `${type}:*` || resource === `${type}:${value}`) return true;
    if (type !== 'agent:id') return false;
    return resource === 'agent:group:*' || this.groupsOf(value).some((group) => resource === `agent:group:${group}`);
  }
}
