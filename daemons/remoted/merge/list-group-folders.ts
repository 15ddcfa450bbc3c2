import { type Dirent, readdirSync } from 'node:fs';
import { groupName, MAX_GROUPS } from '../../../lib/bus/contracts/db-groups.js';
import { sharedPath } from './shared-names.js';
import type { SharedProblem } from './shared-problem.js';

export type GroupFolderList = { readonly groups: readonly string[]; readonly problems: readonly SharedProblem[] };

/** Folders that another program is about to make or remove, and hidden ones: not groups, and nothing to talk about. */
const QUIET = /^[.#]/;

/**
 * The folders of etc/shared that are groups, in the order of their names (agents-and-groups.md 6.1).
 * @param path of etc/shared
 * @throws the file system's error
 */
export function listGroupFolders(path: string): GroupFolderList {
  const problems: SharedProblem[] = [];
  const warn = (name: string, text: string): void => {
    problems.push({ path: sharedPath(name), level: 'warn', text });
  };
  const groups: string[] = [];
  for (const entry of readdirSync(path, { withFileTypes: true }).sort(byName)) {
    const { name } = entry;
    if (entry.isSymbolicLink() && groupName.safeParse(name).success) {
      warn(name, `'${sharedPath(name)}' is a symbolic link, which is not followed: it is no group.`);
    }
    if (!entry.isDirectory() || QUIET.test(name)) continue;
    if (!groupName.safeParse(name).success) {
      warn(name, `The folder ${JSON.stringify(sharedPath(name))} is no group: its name is not that of one.`);
    } else if (groups.length === MAX_GROUPS) {
      warn(name, `The folder '${sharedPath(name)}' is no group: there are ${String(MAX_GROUPS)} already.`);
    } else {
      groups.push(name);
    }
  }
  return { groups, problems };
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
