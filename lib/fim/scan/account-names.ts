import { readFile } from 'node:fs/promises';

/** Most accounts that are kept of one file. */
const MOST_ACCOUNTS = 1_000_000;

/** Names of user and group ids, as the files of the host have them (byte strings). */
export class AccountNames {
  readonly #users: ReadonlyMap<number, string>;
  readonly #groups: ReadonlyMap<number, string>;

  constructor(users: ReadonlyMap<number, string>, groups: ReadonlyMap<number, string>) {
    this.#users = users;
    this.#groups = groups;
  }

  /** Reads both files; of one that cannot be read there are no names. */
  static async load(passwd = '/etc/passwd', group = '/etc/group'): Promise<AccountNames> {
    const [users, groups] = await Promise.all([readIfThere(passwd), readIfThere(group)]);
    return accountNames(users, groups);
  }

  user(id: number): string | undefined {
    return this.#users.get(id);
  }

  group(id: number): string | undefined {
    return this.#groups.get(id);
  }
}

/** Names in texts of the form of both files, byte strings. */
export function accountNames(passwd: string, group: string): AccountNames {
  return new AccountNames(accountsIn(passwd), accountsIn(group));
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'latin1');
  } catch {
    return '';
  }
}

function accountsIn(text: string): Map<number, string> {
  const names = new Map<number, string>();
  for (const line of text.split('\n')) {
    const [name, , id] = line.split(':', 3);
    // The first entry of an id is its name, as the system's own look-up has it.
    if (name && id !== undefined && /^\d{1,10}$/.test(id) && !names.has(Number(id)) && names.size < MOST_ACCOUNTS) {
      names.set(Number(id), name);
    }
  }
  return names;
}
