import { type GroupFolders, isGroupName } from '../../lib/groups/group-folders.js';

/** Longest name of one group (agents-and-groups.md 2.4). */
const MAX_GROUP_NAME = 255;
/** Longest list of groups in a request (agents-and-groups.md 2.4). */
const MAX_GROUP_LIST = 65_535;
/** Groups of one agent at most (agents-and-groups.md 2.3, step 11). */
const MAX_GROUPS = 128;

/** What a list of groups may be written with, commas included. */
const LIST_ALPHABET = /^[A-Za-z0-9.:;_\-=+!@(),]*$/;

/**
 * Checks how a list of groups is written (agents-and-groups.md 2.4).
 * @param text one or more names with commas between them
 * @returns the reason after `Invalid group name: `, or undefined when the text is right
 */
export function groupListProblem(text: string): string | undefined {
  if (text === '') return 'Empty Group';
  const shown = text.slice(0, MAX_GROUP_NAME);
  const names = text.split(',');
  if (names.length === 1 && text.length > MAX_GROUP_NAME) return `${shown}... group is too large`;
  if (text.length > MAX_GROUP_LIST) return `${shown}... multigroup is too large`;
  if (/\s/.test(text)) return `${shown}... white spaces are not allowed`;
  if (text.includes(',,')) return `${shown}... consecutive ',' are not allowed`;
  if (text.startsWith(',') || text.endsWith(',')) return `${shown}... cannot start or end with ','`;
  if (!LIST_ALPHABET.test(text)) return `${shown}... characters '\\/:*?"<>|,' are prohibited`;
  const long = names.find((name) => name.length > MAX_GROUP_NAME);
  return long === undefined ? undefined : `${long.slice(0, MAX_GROUP_NAME)}... group is too large`;
}

/** Names of a list in their order, each once. */
export function groupNames(text: string): string[] {
  return [...new Set(text.split(',').filter((name) => name !== ''))];
}

/**
 * Looks whether every group exists and an agent may be in all of them (agents-and-groups.md 2.3, step 11).
 * @param folders the groups there are: a link is none, nor is a hidden folder
 * @returns the error text of the first that fails, without `ERROR: `; undefined when all is well
 */
export async function missingGroup(
  folders: Pick<GroupFolders, 'exists'>,
  names: readonly string[],
): Promise<string | undefined> {
  for (const [index, name] of names.entries()) {
    if (!isGroupName(name)) {
      return `Invalid group name: ${name.slice(0, MAX_GROUP_NAME)}`;
    }
    if (!(await exists(folders, name))) return `Invalid group: ${name}`;
    if (index >= MAX_GROUPS) return `Maximum multigroup reached: Limit is ${MAX_GROUPS}`;
  }
  return undefined;
}

/** What cannot be looked at is no group that an agent could be put into. */
async function exists(folders: Pick<GroupFolders, 'exists'>, name: string): Promise<boolean> {
  try {
    return await folders.exists(name);
  } catch {
    return false;
  }
}
