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
