import { realpath } from 'node:fs/promises';
import { groupHash, LONG_HASH_CHARS, MERGED_FILE } from '../agentlink/merged-file.js';
import type { AgentStatus } from '../bus/contracts/db-agents.js';
import { isErrno } from '../files/is-errno.js';
import type { Home } from '../home/home.js';
import { GroupError } from './group-error.js';
import { hashSharedFile } from './shared-file.js';

/** A file below a directory of the home. */
export type MergedPlace = { readonly directory: string; readonly name: string };

/**
 * Where the merged file of an agent with these groups may lie, in the order to look (agents-and-groups.md 6.1).
 * @param groups by priority
 */
function mergedPlaces(groups: readonly string[]): MergedPlace[] {
  const [first] = groups;
  if (first === undefined) return [];
  if (groups.length === 1) return [{ directory: 'etc/shared', name: `${first}/${MERGED_FILE}` }];
  // The longer one is only there where two lists have the same hash.
  return [groupHash(groups, LONG_HASH_CHARS), groupHash(groups)].map((hash) => ({
    directory: 'var/multigroups',
    name: `${hash}/${MERGED_FILE}`,
  }));
}

/**
 * Sum of the merged file for these groups, from where it may lie.
 * @param sumAt of the file at a place; undefined when there is none
 * @returns undefined when it lies nowhere
 */
export async function mergedSumFrom(
  groups: readonly string[],
  sumAt: (place: MergedPlace) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const place of mergedPlaces(groups)) {
    const sum = await sumAt(place);
    if (sum !== undefined) return sum;
  }
  return undefined;
}

/**
 * Sum of a shared file as it lies on the disk.
 * @param algorithm a name of `HASH_ALGORITHMS`; merged files are known by their MD5
 * @returns undefined when there is no such file
 * @throws GroupError when it cannot be read; RangeError for another algorithm
 */
export async function sumOnDisk(
  home: Home,
  { directory, name }: MergedPlace,
  algorithm = 'md5',
): Promise<string | undefined> {
  try {
    return await hashSharedFile(await realpath(home.path(directory)), name, algorithm);
  } catch (error) {
    if ((error instanceof GroupError && error.code === 'unknown_file') || isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** MD5 of the merged file for these groups; undefined when there is none. */
export type MergedSumOf = (groups: readonly string[]) => Promise<string | undefined>;

/** What of an agent tells whether it has the files of its groups. */
export type SynchronizedAgent = {
  readonly status?: AgentStatus | undefined;
  /** By priority. */
  readonly groups: readonly string[];
  /** As it reported it. */
  readonly mergedSum?: string | undefined;
};

/**
 * Whether an agent has the merged file of its groups as it lies on the disk (agents-and-groups.md 6.7); svc-db says the
 * same of the sums it is told. One that connected has while there is none; that of several groups is only still to be
 * made when each of them has one.
 */
export async function isSynchronized(agent: SynchronizedAgent, sumOf: MergedSumOf): Promise<boolean> {
  const { status, groups, mergedSum } = agent;
  if (status === 'never_connected') return false;
  const sum = await sumOf(groups);
  if (sum !== undefined) return sum === mergedSum;
  if (groups.length < 2) return true;
  const sums = await Promise.all(groups.map((group) => sumOf([group])));
  return sums.includes(undefined);
}
