import { readdirSync } from 'node:fs';
import { isSafeSharedName, MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { groupName } from '../../../lib/bus/contracts/db-groups.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import type { Home } from '../../../lib/home/home.js';

/** Key of the `files` record of rules, decoders and lists. */
export const RULESET = 'ruleset';
/** Key of the `files` record of what lies in etc/shared itself, such as files.yml. */
export const SHARED = 'shared';
const GROUP = 'group/';
/** Group that is always there. */
const DEFAULT_GROUP = 'default';

/** Deepest folder of a set: listing it must end somewhere. */
export const MAX_DEPTH = 16;

/** Names that are a node's own (daemons-and-config.md 10.2), and the merged files that each node makes itself. */
const OWN_NAMES = new Set(['ar.conf', 'ossec.conf']);
/** Endings of what editors and programs leave for a moment (10.2). */
const OWN_ENDINGS = ['~', '.tmp', '.lock', '.swp'];

/** Where a set of files lies. */
export type SetPlace = {
  readonly key: string;
  /** As people see it in the log. */
  readonly shown: string;
  /** Absolute. */
  readonly folder: string;
  /** The folders in it that belong to the set; without it all does. */
  readonly tops?: readonly string[];
  /** Whether folders in it belong to it. */
  readonly deep: boolean;
  /** The group whose files they are: it goes with its folder, and the folder with it. */
  readonly group?: string;
};

/** Where the set of a record lies; undefined for a key that stands for none. */
export function placeOf(home: Home, key: string): SetPlace | undefined {
  if (key === RULESET) {
    return { key, shown: 'etc', folder: home.path('etc'), tops: ['rules', 'decoders', 'lists'], deep: true };
  }
  if (key === SHARED) return { key, shown: 'etc/shared', folder: home.path('etc', 'shared'), deep: false };
  const group = key.startsWith(GROUP) ? key.slice(GROUP.length) : '';
  if (!isGroupFolder(group)) return undefined;
  return { key, shown: `etc/shared/${group}`, folder: home.path('etc', 'shared', group), deep: true, group };
}

/** Key of the files of a group. */
export function groupKey(group: string): string {
  return GROUP + group;
}

/** Whether a folder of etc/shared is a group (agents-and-groups.md 6.1). */
export function isGroupFolder(name: string): boolean {
  return groupName.safeParse(name).success && !name.startsWith('.');
}

/** Whether the group may be removed. */
export function mayGo(group: string): boolean {
  return group !== DEFAULT_GROUP;
}

/** Whether files and folders of this name are a node's own, whatever they hold. */
export function isOwnName(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('#') ||
    name.startsWith(MERGED_FILE) ||
    OWN_NAMES.has(name) ||
    OWN_ENDINGS.some((ending) => name.endsWith(ending))
  );
}

/**
 * Whether a path may be one of the set: it stays below its folder, whoever wrote the manifest, and names nothing that is a
 * node's own.
 */
export function isPathOf(place: SetPlace, path: string): boolean {
  if (!isSafeSharedName(path) || /[\u0000-\u001f\u007f\uFFFD]/.test(path)) return false;
  const parts = path.split('/');
  if (parts.length > (place.deep ? MAX_DEPTH + 1 : 1)) return false;
  if (place.tops !== undefined && (parts.length < 2 || !place.tops.includes(parts[0] ?? ''))) return false;
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !isOwnName(part));
}

/** Groups of which there are folders here. */
export function groupFolders(home: Home): string[] {
  const entries = ifPresentSync(() => readdirSync(home.path('etc', 'shared'), { withFileTypes: true }));
  return (entries ?? []).filter((entry) => entry.isDirectory() && isGroupFolder(entry.name)).map(({ name }) => name);
}

/** Groups of which there are sets among these keys. */
export function groupsOf(keys: readonly string[]): string[] {
  return keys.filter((key) => key.startsWith(GROUP)).map((key) => key.slice(GROUP.length));
}
