import { MERGED_FILE, type MergedEntry, MergedFileError, parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { AGENT_CONF, compareSharedNames, sharedPath } from './shared-names.js';
import type { SharedProblem } from './shared-problem.js';

/**
 * What agents get whose groups have no agent.conf. Those of 4.x read the file after each push; without one they log an
 * error (1207) and raise the alert of a broken configuration (rule 220).
 */
export const NO_AGENT_CONF = Buffer.from('<agent_config>\n  <!-- The group has no agent.conf. -->\n</agent_config>\n');

/** Lists of the rootkit detection, which agents of 4.x look for among what their group shares with them. */
const ROOTKIT_LISTS = ['rootkit_files.txt', 'rootkit_trojans.txt'];

/** The files of a merged file with an agent.conf, whether there is one or not. @param files in their order, without the shared ar.conf */
export function withAgentConf(files: readonly MergedEntry[]): readonly MergedEntry[] {
  if (files.some(({ name }) => name === AGENT_CONF || name.startsWith(`${AGENT_CONF}/`))) return files;
  const next = files.findIndex(({ name }) => compareSharedNames(name, AGENT_CONF) > 0);
  const at = next < 0 ? files.length : next;
  return [...files.slice(0, at), { name: AGENT_CONF, content: NO_AGENT_CONF }, ...files.slice(at)];
}

/** What a merged file lacks that comes from elsewhere and is sent as it is; undefined when it has an agent.conf. */
export function missingAgentConf(group: string, merged: Buffer): SharedProblem | undefined {
  try {
    if (parseMergedFile(merged).some(({ name }) => name === AGENT_CONF)) return undefined;
  } catch (error) {
    // Whoever made it has told more of it.
    if (error instanceof MergedFileError) return undefined;
    throw error;
  }
  const text = `The merged file of group '${group}', which is not made here, has no ${AGENT_CONF}: agents of 4.x log an error (1207) and raise rule 220.`;
  return { path: sharedPath(group, MERGED_FILE), level: 'warn', text };
}

/** A group as far as the names of its files go. */
type NamedFiles = { readonly name: string; readonly names: ReadonlySet<string> };

/**
 * Lists that the default group has and another one does not: whoever is in that one alone misses them.
 * @param groups whose merged files are made of their folders
 */
export function missingLists(byDefault: NamedFiles | undefined, groups: readonly NamedFiles[]): SharedProblem[] {
  const wanted = ROOTKIT_LISTS.filter((list) => byDefault?.names.has(list) === true);
  return groups.flatMap(({ name, names }) => {
    const missing = wanted.filter((list) => !names.has(list));
    if (missing.length === 0) return [];
    const text = `Group '${name}' has no ${missing.join(' and no ')}: rootcheck warns on agents that are in this group alone. '${sharedPath('default')}' has them.`;
    return [{ path: sharedPath(name), level: 'warn' as const, text }];
  });
}
