import { isIP } from 'node:net';
import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { known, UNKNOWN } from '../host/known.js';
import type { Account, Accounts, Group } from './accounts.js';
import { signed } from './groups.js';
import { LoginBook, type Logins } from './logins.js';
import { parseShadow, type Password } from './shadow.js';

/** Groups whose members may become root. */
const ROLE_GROUPS: ReadonlySet<string> = new Set(['sudo', 'wheel', 'admin']);
const ROLE = 'sudo';

/** Users of the host with their groups, passwords and logins: table `users`. */
export function readUsers(files: HostFiles, accounts: Accounts): InventoryRow[] {
  const passwords = parseShadow(files.text('/etc/shadow'));
  const logins = new LoginBook(files);
  logins.readLastLogins(new Map(accounts.users.map(({ name, uid }) => [name, uid])));
  return userRows(accounts, passwords, (name) => logins.of(name));
}

/** @param loginsOf undefined for a user who never logged in */
function userRows(
  { users, groups }: Accounts,
  passwords: ReadonlyMap<string, Password>,
  loginsOf: (name: string) => Logins | undefined,
): InventoryRow[] {
  const byMember = new Map<string, Group[]>();
  for (const group of groups) {
    for (const member of group.members) {
      const known = byMember.get(member);
      if (known === undefined) byMember.set(member, [group]);
      else known.push(group);
    }
  }
  const byId = new Map<number, Group>();
  for (const group of groups) if (!byId.has(group.gid)) byId.set(group.gid, group);
  return users.map((user) => {
    const first = byId.get(user.gid);
    const all = [...new Set([...(first === undefined ? [] : [first]), ...(byMember.get(user.name) ?? [])])];
    return userRow(user, all, passwords.get(user.name), loginsOf(user.name));
  });
}

function userRow(
  { name, uid, gid, fullName, home, shell }: Account,
  groups: readonly Group[],
  password: Password | undefined,
  logins: Logins | undefined,
): InventoryRow {
  return {
    user_name: name,
    user_full_name: fullName,
    user_home: home,
    user_id: uid,
    user_uid_signed: signed(uid),
    user_uuid: UNKNOWN,
    user_groups: known(groups.map((group) => group.name).join(':')),
    user_group_id: gid,
    user_group_id_signed: signed(gid),
    user_created: 0,
    user_roles: groups.some((group) => ROLE_GROUPS.has(group.name)) ? ROLE : UNKNOWN,
    user_shell: shell,
    user_type: UNKNOWN,
    user_is_hidden: 0,
    // What agents of 4.14 say of any user of the files of a Linux host (agent-transcript.md 9).
    user_is_remote: 1,
    user_last_login: logins?.lastLogin ?? 0,
    user_auth_failed_count: logins?.failures ?? 0,
    user_auth_failed_timestamp: logins?.lastFailure ?? 0,
    ...passwordColumns(password),
    process_pid: logins?.session?.pid ?? 0,
    // A session may come from a name or a display instead.
    host_ip: isIP(logins?.session?.host ?? '') === 0 ? UNKNOWN : known(logins?.session?.host),
    login_status: logins?.session === undefined ? 0 : 1,
    login_tty: known(logins?.session?.line),
    login_type: logins?.session === undefined ? UNKNOWN : 'user',
  };
}

function passwordColumns(password: Password | undefined): InventoryRow {
  return {
    user_password_last_change: password?.lastChange ?? 0,
    user_password_expiration_date: password?.expires ?? -1,
    user_password_hash_algorithm: known(password?.algorithm),
    user_password_inactive_days: password?.inactiveDays ?? -1,
    user_password_max_days_between_changes: password?.maxDays ?? -1,
    user_password_min_days_between_changes: password?.minDays ?? -1,
    user_password_status: known(password?.status),
    user_password_warning_days_before_expiration: password?.warnDays ?? -1,
  };
}
