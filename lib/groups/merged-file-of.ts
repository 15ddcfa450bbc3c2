import { groupHash, LONG_HASH_CHARS, MERGED_FILE } from '../agentlink/merged-file.js';
import type { AgentStatus } from '../bus/contracts/db-agents.js';

/** A file below a directory of the home. */
export type MergedPlace = { readonly directory: string; readonly name: string };

/**
 * Where the merged file of an agent with these groups may lie, in the order to look (agents-and-groups.md 6.1).
 * @param groups by priority
 */
export function mergedPlaces(groups: readonly string[]): MergedPlace[] {
  const [first] = groups;
  if (first === undefined) return [];
  if (groups.length === 1) return [{ directory: 'etc/shared', name: `${first}/${MERGED_FILE}` }];
  // The longer one is only there where two lists have the same hash.
  return [groupHash(groups, LONG_HASH_CHARS), groupHash(groups)].map((hash) => ({
    directory: 'var/multigroups',
    name: `${hash}/${MERGED_FILE}`,
  }));
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
