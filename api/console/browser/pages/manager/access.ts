import type { ApiClient, List } from '../../client/api-client.js';

/** Objects of access control as the API shows them (rest-api.md 6.9). */
export type User = {
  readonly id: number;
  readonly username: string;
  readonly allow_run_as: boolean;
  readonly roles: readonly number[];
};
export type Role = {
  readonly id: number;
  readonly name: string;
  readonly policies: readonly number[];
  readonly users: readonly number[];
};
export type Policy = {
  readonly id: number;
  readonly name: string;
  readonly policy: {
    readonly actions: readonly string[];
    readonly resources: readonly string[];
    readonly effect: string;
  };
};

/** Ids up to this one are those of the product: they stay as they are. */
const LAST_BUILT_IN = 99;

export function isBuiltIn({ id }: { readonly id: number }): boolean {
  return id <= LAST_BUILT_IN;
}

/** Ids that a choice adds, and those that it takes away. */
export function changesOf(
  before: readonly number[],
  chosen: ReadonlySet<number>,
): { readonly added: number[]; readonly removed: number[] } {
  return {
    added: [...chosen].filter((id) => !before.includes(id)),
    removed: before.filter((id) => !chosen.has(id)),
  };
}

/**
 * Gives and takes roles of a user, or policies of a role. It gives first: what fails half way leaves more than was wanted, and
 * nobody who may do nothing. What was done is noted, so that the same choice can be asked for again.
 * @param address where they are given and taken
 * @param parameter takes their ids
 * @param known what there is now
 * @returns the answers: of many things some may not have been done
 * @throws Failure when nothing of a step could be done
 */
export async function changeLinks(
  api: Pick<ApiClient, 'send'>,
  [address, parameter]: readonly [address: string, parameter: 'role_ids' | 'policy_ids'],
  known: { current: readonly number[] },
  chosen: ReadonlySet<number>,
): Promise<readonly List<unknown>[]> {
  const answers: List<unknown>[] = [];
  const { added, removed } = changesOf(known.current, chosen);
  if (added.length > 0) {
    const answer = await api.send('POST', address, { params: { [parameter]: added.map(String) } });
    known.current = [...known.current, ...doneOf(added, answer)];
    answers.push(answer);
  }
  if (removed.length > 0) {
    const answer = await api.send('DELETE', address, { params: { [parameter]: removed.map(String) } });
    const gone = doneOf(removed, answer);
    known.current = known.current.filter((id) => !gone.includes(id));
    answers.push(answer);
  }
  return answers;
}

function doneOf(ids: readonly number[], { failed_items: failed }: List<unknown>): readonly number[] {
  const not = new Set(failed.flatMap(({ id }) => id.map(Number)));
  return ids.filter((id) => !not.has(id));
}

/** Policies that count for somebody with these roles, in their order: a later one goes before an earlier one. */
export function policiesOf(
  roleIds: readonly number[],
  roles: readonly Role[],
  policies: readonly Policy[],
): { readonly role: Role; readonly policy: Policy }[] {
  return roleIds.flatMap((roleId) => {
    const role = roles.find(({ id }) => id === roleId);
    if (role === undefined) return [];
    return role.policies.flatMap((policyId) => {
      const policy = policies.find(({ id }) => id === policyId);
      return policy === undefined ? [] : [{ role, policy }];
    });
  });
}
