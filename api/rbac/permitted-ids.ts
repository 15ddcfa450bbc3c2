import type { FailedItem } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { deniedError } from './denied-error.js';
import { objectId } from './object-id.js';
import type { Permissions } from './permissions.js';
import type { Requirement } from './requirements.js';

/** Objects of access control have numbers (rest-api.md 6.9). */
const NUMBERED = new Set(['user:id', 'role:id', 'policy:id', 'rule:id']);

export type PermittedIdsParts = {
  readonly permissions: Permissions;
  readonly requirement: Requirement;
  /** What the request names; undefined when it means all there are. */
  readonly named: readonly string[] | undefined;
};

/** Resources that a request is about, as far as its caller may use them (rest-api.md 5.2). */
export class PermittedIds {
  /** Whether everything was meant: what is not allowed, or cannot be done, is left out silently then. */
  readonly isAll: boolean;
  /** Why there is nothing to be done to those that were named and are not allowed. */
  readonly failed: readonly FailedItem[];
  readonly #parts: PermittedIdsParts;
  readonly #ids: readonly string[];
  #isSettled: boolean;

  /**
   * @throws ApiError 4000 when resources are named of which none is allowed, 4500 for a policy that is not valid; ProblemError 400 for `all`
   * where ids have to be named, and for one that no object can have
   */
  constructor(parts: PermittedIdsParts) {
    const { requirement, named } = parts;
    this.#parts = parts;
    this.isAll = named === undefined;
    const isNumbered = NUMBERED.has(requirement.resource);
    const wanted = [...new Set(isNumbered ? (named ?? []).map(plainNumber) : named)];
    const allowed = this.#allowed(wanted);
    if (named !== undefined && allowed.size === 0) throw deniedError(requirement.resource);
    this.#ids = wanted.filter((id) => allowed.has(id));
    this.failed = wanted
      .filter((id) => !allowed.has(id))
      .map((id) => ({ id: isNumbered ? Number(id) : id, error: deniedError(requirement.resource) }));
    // Of one that was named everything is said with that.
    this.#isSettled = requirement.source.kind === 'parameter' && !requirement.source.isList;
  }

  /** Whether the handler has been told what it may use: who answers without that has forgotten to ask. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Those of the named that are allowed, in the order of the request. */
  get ids(): readonly string[] {
    this.#isSettled = true;
    return this.#ids;
  }

  /**
   * Those that are allowed of what there is.
   * @throws ApiError 4000 for files when none is allowed; without any file, whether all would be allowed decides
   */
  of(existing: Iterable<string>): ReadonlySet<string> {
    this.#isSettled = true;
    const { requirement } = this.#parts;
    const there = [...existing];
    if (requirement.source.kind !== 'files') return this.#allowed(there);
    const allowed = this.#allowed(there.length === 0 ? ['*'] : there);
    if (allowed.size === 0) throw deniedError(requirement.resource);
    return allowed;
  }

  /** Those that the request is about: of what there is when it means everything, else those that it names. */
  chosen(existing: Iterable<string>): readonly string[] {
    if (!this.isAll) return this.ids;
    const there = [...existing];
    const allowed = this.of(there);
    return there.filter((id) => allowed.has(id));
  }

  #allowed(values: readonly string[]): Set<string> {
    const { permissions, requirement } = this.#parts;
    const [first = '', ...others] = requirement.actions;
    let allowed = permissions.allowed(first, requirement.resource, values);
    for (const action of others) allowed = permissions.allowed(action, requirement.resource, allowed);
    return allowed;
  }
}

/** @throws ProblemError 400 */
function plainNumber(id: string): string {
  if (id === 'all') throw ProblemError.badRequest("'all' is not a 'numbers': the ids have to be named");
  return String(objectId(id));
}
