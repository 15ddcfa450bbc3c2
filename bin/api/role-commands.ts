import type { Command } from 'commander';
import { addCall, addGroup, type CommandKit } from './command-kit.js';
import { readObjects, roleIds } from './security-objects.js';
import { showList } from './show-answer.js';

/** Adds `svc-api roles ...`: what roles there are, and what they allow. */
export function addRoleCommands(program: Command, kit: CommandKit): void {
  const roles = addGroup(program, 'roles', 'show roles and what they allow');
  addCall<object, []>(
    roles,
    { usage: 'list', description: 'list roles with the names of their policies' },
    kit,
    async ({ caller, streams, output }) => {
      const list = await caller.list('GET', '/security/roles');
      if (output !== 'table') return showList(list, { output }, streams);
      const names = new Map((await readObjects(caller, 'policies')).map(({ id, name }) => [id, name]));
      const items = (list.data.affected_items as { policies: readonly number[] }[]).map((role) => ({
        ...role,
        policies: role.policies.map((id) => names.get(id) ?? String(id)),
      }));
      const shown = { ...list, data: { ...list.data, affected_items: items } };
      return showList(shown, { output, fields: ['id', 'name', 'policies'] }, streams);
    },
  );
  addCall<object, [string]>(
    roles,
    { usage: 'show <role>', description: 'show what a role allows and denies, in the order that counts' },
    kit,
    async ({ caller, streams, output }, name) => {
      const [id = 0] = await roleIds(caller, [name]);
      const ids = (await readObjects(caller, 'roles')).find((role) => role.id === id)?.policies ?? [];
      const parameters = { policy_ids: ids.length === 0 ? '0' : ids.join(',') };
      const list = await caller.list('GET', '/security/policies', parameters);
      const place = (item: unknown) => ids.indexOf((item as { id: number }).id);
      list.data.affected_items.sort((a, b) => place(a) - place(b));
      const fields = ['id', 'name', 'policy.effect', 'policy.actions', 'policy.resources'];
      return showList(list, { output, ...(output === 'table' && { fields }) }, streams);
    },
  );
}
