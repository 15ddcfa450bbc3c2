import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { known, UNKNOWN } from '../host/known.js';
import type { Accounts } from './accounts.js';

/** Groups of the host with their members, those whose first group it is among them: table `groups`. */
export function groupRows({ users, groups }: Accounts): InventoryRow[] {
  const byFirstGroup = new Map<number, string[]>();
  for (const { gid, name } of users) {
    const names = byFirstGroup.get(gid);
    if (names === undefined) byFirstGroup.set(gid, [name]);
    else names.push(name);
  }
  return groups.map(({ name, gid, members }) => ({
    group_id: gid,
    group_name: name,
    group_description: UNKNOWN,
    group_id_signed: signed(gid),
    group_uuid: UNKNOWN,
    group_is_hidden: 0,
    group_users: known([...new Set([...(byFirstGroup.get(gid) ?? []), ...members])].join(':')),
  }));
}

/** An id as a number of 32 bits with a sign. */
export function signed(id: number): number {
  return id | 0;
}
