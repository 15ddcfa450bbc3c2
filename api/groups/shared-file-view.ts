import { MERGED_FILE, MergedFileError, parseMergedFile } from '../../lib/agentlink/merged-file.js';
import { parsePolicyList } from '../../lib/groups/policy-list.js';
import { parseRootkitFiles, parseTrojanSignatures } from '../../lib/groups/rootcheck-lists.js';
import { ApiError } from '../http/api-error.js';
import type { AgentConfWorker } from './agent-conf-worker.js';
import type { RenderedAgentConf } from './render-agent-conf.js';

/** Largest file that is shown taken apart, bytes: as JSON it takes several times its room. */
const MAX_SHOWN_BYTES = 16 * 1024 * 1024;
/** The same for lists of rootcheck, bytes: a few bytes of them may be an object each. Those in use have a tenth of it. */
const MAX_LIST_BYTES = 1024 * 1024;

type FileView = (content: Buffer, name: string, work: ConfigurationWork) => unknown;

/** How an agent.conf is read. */
type ConfigurationWork = { readonly worker: AgentConfWorker; readonly signal: AbortSignal };

const VIEWS_BY_NAME: ReadonlyMap<string, FileView> = new Map<string, FileView>([
  ['agent.conf', configurationView],
  ['ar.conf', listView(lines)],
  [MERGED_FILE, mergedView],
  ['rootkit_files.txt', listView(parseRootkitFiles)],
  ['rootkit_trojans.txt', listView(parseTrojanSignatures)],
]);

/** Values of the parameter `type` (rest-api.md 6.3). */
const VIEWS_BY_TYPE: ReadonlyMap<string, FileView> = new Map<string, FileView>([
  ['conf', configurationView],
  ['rootkit_files', listView(parseRootkitFiles)],
  ['rootkit_trojans', listView(parseTrojanSignatures)],
  ['rcl', listView(parsePolicyList)],
]);

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['json', 'application/json'],
  ['xml', 'application/xml; charset=utf-8'],
]);

/**
 * A shared file as JSON: read as `type` says, without it as its name says, and as a policy file when that says nothing.
 * @throws ApiError 1101 for a file of another form, 1104 for another type, 1006 for one that is too large
 */
export async function sharedFileView(
  name: string,
  content: Buffer,
  work: ConfigurationWork,
  type?: string,
): Promise<unknown> {
  refuseTooLarge(name, content);
  const view = type === undefined ? (VIEWS_BY_NAME.get(name) ?? VIEWS_BY_TYPE.get('rcl')) : VIEWS_BY_TYPE.get(type);
  if (view === undefined) throw new ApiError(1104);
  return view(content, name, work);
}

/** The blocks of an agent.conf. @throws ApiError 1006 when it is too large, 1101 with the line when it is no XML */
export async function agentConfBlocks(
  worker: AgentConfWorker,
  content: Buffer,
  name: string,
  signal: AbortSignal,
): Promise<readonly RenderedAgentConf[]> {
  refuseTooLarge(name, content);
  return worker.run('show', content.toString('utf8'), name, signal);
}

/** Media type of a shared file as it is. No page of scripts among them: it would have the rights of the API's origin. */
export function sharedContentType(name: string): string {
  if (name === 'agent.conf') return 'application/xml; charset=utf-8';
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return CONTENT_TYPES.get(extension) ?? 'text/plain; charset=utf-8';
}

function refuseTooLarge(name: string, content: Buffer, limit: number = MAX_SHOWN_BYTES): void {
  if (content.length <= limit) return;
  throw new ApiError(1006, { extra: `${name} is larger than ${limit} bytes, raw=true returns it` });
}

async function configurationView(content: Buffer, name: string, { worker, signal }: ConfigurationWork) {
  const blocks = await agentConfBlocks(worker, content, name, signal);
  return { total_affected_items: blocks.length, affected_items: blocks };
}

function mergedView(content: Buffer) {
  try {
    return parseMergedFile(content).map((entry) => ({
      file_name: entry.name,
      file_size: entry.content.length,
      file_content: entry.content.toString('utf8'),
    }));
  } catch (error) {
    throw error instanceof MergedFileError ? new ApiError(1101, { extra: error.message }) : error;
  }
}

/** The end of the last line begins no further one. */
function lines(text: string): string[] {
  const result = text.split(/\r?\n/);
  if (result.at(-1) === '') result.pop();
  return result;
}

function listView(parse: (text: string) => unknown): FileView {
  return (content, name) => {
    refuseTooLarge(name, content, MAX_LIST_BYTES);
    return parse(content.toString('utf8'));
  };
}
