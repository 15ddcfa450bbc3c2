import type { HostFiles } from '../host/host-files.js';

/** An account of passwd(5). */
export type Account = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly fullName: string;
  readonly home: string;
  readonly shell: string;
};

/** A group of group(5). */
export type Group = { readonly name: string; readonly gid: number; readonly members: readonly string[] };

/** Accounts and groups of the files of the host, each name once; those of directories (LDAP) are not among them. */
export type Accounts = { readonly users: readonly Account[]; readonly groups: readonly Group[] };

/** @throws the file system's error, but for a file that is not there */
export function readAccounts(files: HostFiles): Accounts {
  return {
    users: parseUsers(files.required('/etc/passwd')?.toString('utf8') ?? ''),
    groups: parseGroups(files.required('/etc/group')?.toString('utf8') ?? ''),
  };
}

/** Lines of passwd(5); what is no account is left out. */
export function parseUsers(text: string): Account[] {
  return entries(text, ([name = '', , uid = '', gid = '', comment = '', home = '', shell = '']) =>
    isId(uid) && isId(gid)
      ? { name, uid: Number(uid), gid: Number(gid), fullName: comment.split(',', 1)[0] ?? '', home, shell }
      : undefined,
  );
}

/** Lines of group(5); what is no group is left out. */
export function parseGroups(text: string): Group[] {
  return entries(text, ([name = '', , gid = '', members = '']) =>
    isId(gid) ? { name, gid: Number(gid), members: members.split(',').filter((member) => member !== '') } : undefined,
  );
}

/** Names of ids: the first entry of one, as the system's own look-up has it. */
export function namesOfIds(
  entriesOfIds: readonly (readonly [id: number, name: string])[],
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [id, name] of entriesOfIds) if (!names.has(id)) names.set(id, name);
  return names;
}

function entries<T extends { readonly name: string }>(text: string, read: (fields: string[]) => T | undefined): T[] {
  const found = new Map<string, T>();
  for (const line of text.split('\n')) {
    const fields = line.split(':');
    const [name = ''] = fields;
    // Lines of NIS begin with a sign.
    if (!/^[^#+\-\s]/.test(name) || found.has(name)) continue;
    const entry = read(fields);
    if (entry !== undefined) found.set(name, entry);
  }
  return [...found.values()];
}

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= 0xffff_ffff;
}
