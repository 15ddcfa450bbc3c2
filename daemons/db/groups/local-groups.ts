import { DEFAULT_GROUP, requireGroups } from '../membership.js';
import type { Registry } from '../registry.js';
import type { GroupAuthority } from './group-authority.js';
import type { GroupDecision, GroupView } from './group-decisions.js';
import { makeTrue } from './make-true.js';
import { registryView } from './registry-view.js';

/** Groups of a manager by itself: a decision comes true in one transaction of its registry. */
export class LocalGroups implements GroupAuthority {
  readonly isShared = false;
  readonly mostChanges = Infinity;
  readonly #registry: Registry;
  readonly #view: GroupView;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#view = registryView(registry);
  }

  decide<T>(decide: (view: GroupView) => GroupDecision<T>): Promise<T> {
    const registry = this.#registry;
    return registry.edit((edit) => {
      const { changes, wanted, result } = decide(this.#view);
      registry.groupUses.note(wanted);
      makeTrue(registry, edit, changes);
      return result;
    });
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  ofNewAgent(_id: number, groups: readonly string[] = [DEFAULT_GROUP]): readonly string[] {
    requireGroups(this.#registry.groups, groups);
    this.#registry.groupUses.note(groups);
    return [...new Set(groups)];
  }

  stats(): Record<string, unknown> {
    return {};
  }
}
