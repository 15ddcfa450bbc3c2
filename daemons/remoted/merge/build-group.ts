import { join } from 'node:path';
import {
  buildMergedFile,
  type MergedEntry,
  MergedFileError,
  parseMergedFile,
} from '../../../lib/agentlink/merged-file.js';
import { MAX_AGENT_CONF_BYTES } from '../../../lib/config/agent-conf-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Breather } from './breather.js';
import { looksBinary } from './looks-binary.js';
import { NO_AGENT_CONF, withAgentConf } from './needed-files.js';
import { readSharedFile } from './read-shared-file.js';
import type { FolderScan, ScannedFile } from './scan-folder.js';
import { MAX_MERGED_BYTES, MAX_SHARED_FILE_BYTES } from './shared-limits.js';
import { AGENT_CONF, AR_CONF, sharedPath } from './shared-names.js';
import type { SharedProblem } from './shared-problem.js';

/** What is wrong with an agent.conf, for the log; undefined when it may be distributed. */
export type ConfCheck = (content: Buffer, file: string) => Promise<string | undefined>;

export type GroupSources = {
  readonly group: string;
  /** Folder of the group, absolute. */
  readonly path: string;
  readonly scan: FolderScan;
  readonly arConf: Buffer | undefined;
  readonly check: ConfCheck;
  /** The merged file there is: where the last good agent.conf is found. */
  readonly current: () => Promise<Buffer | undefined>;
};

/** `changed`: a file changed while it was read; the same is to be tried again. */
export type BuiltGroup =
  | {
      readonly kind: 'built';
      readonly content: Buffer;
      readonly problems: readonly SharedProblem[];
      /** Whether it holds the only copy of an agent.conf. */
      readonly holdsLastGood: boolean;
    }
  | { readonly kind: 'changed'; readonly path: string }
  | { readonly kind: 'refused'; readonly problems: readonly SharedProblem[] };

/**
 * Puts the files of a group together (agents-and-groups.md 6.3). An agent.conf that cannot be used is replaced by the last
 * one that could, and one that is missing by an empty one. @throws the file system's error for the merged file there is
 */
export async function buildGroup(sources: GroupSources, breather: Breather): Promise<BuiltGroup> {
  const { group, path, scan, arConf, check } = sources;
  const problems = [...scan.problems];
  const entries: MergedEntry[] = [];
  let bytes = arConf?.length ?? 0;
  let holdsLastGood = false;
  for (const file of scan.files) {
    const shown = sharedPath(group, file.name);
    const isConf = file.name === AGENT_CONF;
    const read = await readSource(join(path, file.name), shown, file, isConf ? check : undefined, breather);
    if (read.kind === 'changed') return { kind: 'changed', path: shown };
    let { content } = read;
    if (content === undefined && isConf) {
      content = await lastGood(await sources.current(), async (conf) => (await check(conf, shown)) === undefined);
      holdsLastGood = content !== undefined;
      const instead = content === undefined ? 'there is none before it that is good' : 'the last good one stays';
      for (const problem of read.problems) {
        problems.push({ ...problem, text: `${problem.text} It is not distributed, ${instead}.`, stamp: file.stamp });
      }
    } else {
      problems.push(...read.problems);
    }
    if (content === undefined) continue;
    bytes += content.length;
    if (bytes > MAX_MERGED_BYTES) {
      const text = `The files of group '${group}' have more than ${String(MAX_MERGED_BYTES)} bytes, the most that is sent to agents: the merged file is not changed.`;
      return { kind: 'refused', problems: [...problems, { path: sharedPath(group), level: 'error', text }] };
    }
    entries.push({ name: file.name, content });
  }
  const shared: MergedEntry[] = arConf === undefined ? [] : [{ name: AR_CONF, content: arConf }];
  const content = buildMergedFile(group, [...shared, ...withAgentConf(entries)]);
  return { kind: 'built', content, problems, holdsLastGood };
}

type ReadSource =
  | { readonly kind: 'changed' }
  | { readonly kind: 'read'; readonly content: Buffer | undefined; readonly problems: readonly SharedProblem[] };

async function readSource(
  path: string,
  shown: string,
  file: ScannedFile,
  check: ConfCheck | undefined,
  breather: Breather,
): Promise<ReadSource> {
  const leftOut = (text: string, mended?: string): ReadSource => ({
    kind: 'read',
    content: undefined,
    problems: [{ path: shown, level: 'error', text, ...(mended === undefined ? {} : { mended }) }],
  });
  const mostBytes = check === undefined ? MAX_SHARED_FILE_BYTES : MAX_AGENT_CONF_BYTES;
  if (file.size > mostBytes) {
    return leftOut(`'${shown}' has ${String(file.size)} bytes, ${String(mostBytes)} are allowed. Ignoring it.`);
  }
  let content: Buffer;
  try {
    const read = await readSharedFile(path, mostBytes, breather, file.stamp);
    if (read.kind !== 'read') return { kind: 'changed' };
    ({ content } = read);
  } catch (error) {
    return leftOut(
      `'${shown}' cannot be read, it is left out of what agents get: ${describeError(error)}`,
      `'${shown}' can be read again.`,
    );
  }
  const mended = `File '${shown}' is valid after last modification.`;
  if (looksBinary(content)) return leftOut(`Invalid shared file '${shown}'. Ignoring it.`, mended);
  const failure = await check?.(content, shown);
  if (failure !== undefined) return leftOut(failure, mended);
  const empty: readonly SharedProblem[] =
    content.length > 0 ? [] : [{ path: shown, level: 'warn', text: `File '${shown}' is empty.` }];
  return { kind: 'read', content, problems: empty };
}

/** The agent.conf of a merged file, when it is good. */
async function lastGood(
  merged: Buffer | undefined,
  isGood: (conf: Buffer) => Promise<boolean>,
): Promise<Buffer | undefined> {
  if (merged === undefined) return undefined;
  try {
    const content = parseMergedFile(merged).findLast(({ name }) => name === AGENT_CONF)?.content;
    if (content === undefined || content.equals(NO_AGENT_CONF)) return undefined;
    return (await isGood(content)) ? content : undefined;
  } catch (error) {
    if (error instanceof MergedFileError) return undefined;
    throw error;
  }
}
