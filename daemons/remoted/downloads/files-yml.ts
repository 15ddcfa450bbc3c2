import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { groupName } from '../../../lib/bus/contracts/db-groups.js';
import { readYamlNodes, YamlError, type YamlNode } from '../../../lib/config/yaml-nodes.js';
import { AddressError, parseAddress } from './download-address.js';
import {
  DEFAULT_POLL_S,
  MAX_FILES_PER_GROUP,
  MAX_FILES_YML_BYTES,
  MAX_GROUPS,
  MAX_LOGGED_PROBLEMS,
  MAX_NAME_BYTES,
  MAX_POLL_S,
} from './download-limits.js';

/** The file in the words of the log, relative to the home. */
export const FILES_YML = 'etc/shared/files.yml';

/** A file of a group and where it is fetched from. */
export type ListedFile = { readonly name: string; readonly address: string };

/** A group of files.yml. */
export type ListedGroup = {
  readonly name: string;
  /** What is fetched: `merged.mg` alone where it is listed. */
  readonly files: readonly ListedFile[];
  /** Whether `merged.mg` is listed. */
  readonly merged: boolean;
  /** Seconds between two downloads; 0 is at each look at the shared files. */
  readonly poll: number;
};

/** What is to be said about a file, in the words of agents-and-groups.md 8. */
export type FilesYmlLine = { readonly level: 'info' | 'warn' | 'error'; readonly text: string };

export type FilesYmlResult = {
  /** Whether the file could be used. If not, there are no groups. */
  readonly ok: boolean;
  readonly groups: readonly ListedGroup[];
  readonly lines: readonly FilesYmlLine[];
};

/** Codes of the reference's YAML library: what kind of fault a document has. */
const READER_ERROR = 2;
const SCANNER_ERROR = 3;
const PARSER_ERROR = 4;

/** A fault after which nothing of the file is used. Its message is the line of the log. */
class FilesYmlError extends Error {
  override readonly name = 'FilesYmlError';
}

/** Collects what is to be said: of a file full of faults not every one. */
class YamlLines {
  readonly #lines: FilesYmlLine[] = [];
  #left = 0;

  add(level: FilesYmlLine['level'], text: string): void {
    if (this.#lines.length < MAX_LOGGED_PROBLEMS) this.#lines.push({ level, text });
    else this.#left += 1;
  }

  all(): FilesYmlLine[] {
    if (this.#left === 0) return this.#lines;
    return [...this.#lines, { level: 'error', text: `${String(this.#left)} more problems of '${FILES_YML}'.` }];
  }
}

/**
 * Reads files.yml (agents-and-groups.md 8). Numbers of lines begin with 0, as in the reference. A fault of the grammar
 * takes the whole file out of force; a single group, file or address that cannot be used is left out and told.
 */
export function readFilesYml(content: Buffer): FilesYmlResult {
  const lines = new YamlLines();
  try {
    if (content.length > MAX_FILES_YML_BYTES) {
      throw new FilesYmlError(`Parsing file '${FILES_YML}': it is larger than ${String(MAX_FILES_YML_BYTES)} bytes`);
    }
    const root = documentOf(decode(content));
    if (root === undefined || isEmpty(root)) {
      lines.add('warn', `Parsing '${FILES_YML}': file empty`);
      return { ok: true, groups: [], lines: lines.all() };
    }
    const groups = readRoot(root, lines);
    lines.add('info', `Successfully parsed of yaml file: ${FILES_YML}`);
    return { ok: true, groups, lines: lines.all() };
  } catch (error) {
    if (!(error instanceof FilesYmlError)) throw error;
    const failed = { level: 'error', text: error.message } as const;
    const whole = { level: 'error', text: `Failed yaml parsing of file: ${FILES_YML}` } as const;
    return { ok: false, groups: [], lines: [...lines.all(), failed, whole] };
  }
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    const before = content.toString('utf8').split('\ufffd', 1)[0] ?? '';
    throw parserError(before.split('\n').length - 1, READER_ERROR, 'invalid UTF-8');
  }
}

function documentOf(text: string): YamlNode | undefined {
  try {
    return readYamlNodes(text, { textOnly: true, repeatedKeys: true }).root;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const line = Math.max(error.line - 1, 0);
    if (error.message.includes('single document')) throw parserError(line, PARSER_ERROR, 'expecting document end');
    const unreadable = error.message.includes('non-printable') || error.message.includes('null byte');
    throw parserError(line, unreadable ? READER_ERROR : SCANNER_ERROR, error.message);
  }
}

function parserError(line: number, code: number, problem: string): FilesYmlError {
  return new FilesYmlError(`Parser error on line ${String(line)}: [(${String(code)})-(${problem})]`);
}

function readRoot(root: YamlNode, lines: YamlLines): readonly ListedGroup[] {
  let groups: readonly ListedGroup[] | undefined;
  for (const { key, name, value } of pairsOf(root)) {
    if (name !== 'groups') {
      lines.add('error', `Parsing file '${FILES_YML}': unexpected identifier: '${shown(name)}' on line ${lineOf(key)}`);
    } else if (groups !== undefined) {
      repeated(lines, 'group');
    } else {
      groups = readGroups(required(value, name), lines);
    }
  }
  return groups ?? [];
}

function readGroups(node: YamlNode, lines: YamlLines): ListedGroup[] {
  const groups = new Map<string, ListedGroup>();
  for (const { key, name, value } of pairsOf(node)) {
    const group = readGroup(name, required(value, name), lines);
    if (groups.has(name)) {
      repeated(lines, 'group');
    } else if (!groupName.safeParse(name).success) {
      lines.add(
        'error',
        `Parsing file '${FILES_YML}': '${shown(name)}' on line ${lineOf(key)} is no valid name of a group. Ignoring it`,
      );
    } else if (groups.size === MAX_GROUPS) {
      throw new FilesYmlError(
        `Parsing file '${FILES_YML}': more than ${String(MAX_GROUPS)} groups on line ${lineOf(key)}`,
      );
    } else {
      groups.set(name, group);
    }
  }
  return [...groups.values()];
}

function readGroup(group: string, node: YamlNode, lines: YamlLines): ListedGroup {
  let listed: { readonly files: readonly ListedFile[]; readonly merged: boolean } | undefined;
  let poll: number | undefined;
  for (const { name, value } of pairsOf(node)) {
    if (name === 'files') {
      const files = readFiles(group, required(value, name), lines);
      if (listed !== undefined) repeated(lines, name);
      listed ??= files;
    } else if (name === 'poll') {
      const seconds = readPoll(required(value, name));
      if (poll !== undefined) repeated(lines, name);
      poll ??= seconds;
    } else if (!isEmpty(value)) {
      textOf(value);
    }
  }
  return { name: group, ...(listed ?? { files: [], merged: false }), poll: poll ?? DEFAULT_POLL_S };
}

function readPoll(node: YamlNode): number {
  const text = textOf(node);
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  if (seconds === undefined || seconds > MAX_POLL_S) throw new FilesYmlError(`Wrong poll value: ${shown(text)}.`);
  return seconds;
}

function readFiles(
  group: string,
  node: YamlNode,
  lines: YamlLines,
): { readonly files: readonly ListedFile[]; readonly merged: boolean } {
  const files = new Map<string, ListedFile>();
  let merged = false;
  for (const { key, name, value } of pairsOf(node)) {
    const address = textOf(required(value, name));
    const nameFault = nameProblem(name);
    // A wrong address does not make the group one that is merged here.
    if (nameFault === undefined && name === MERGED_FILE) merged = true;
    const fault = nameFault ?? addressProblem(address);
    const where = `Parsing file '${FILES_YML}': file '${shown(name)}' of group '${shown(group)}' on line ${lineOf(key)}`;
    if (fault !== undefined) {
      lines.add('error', `${where}: ${fault}. Ignoring it`);
    } else if (files.has(name)) {
      repeated(lines, name);
    } else if (files.size === MAX_FILES_PER_GROUP) {
      throw new FilesYmlError(`${where}: more than ${String(MAX_FILES_PER_GROUP)} files`);
    } else {
      files.set(name, { name, address });
    }
  }
  return { files: [...files.values()].filter(({ name }) => !merged || name === MERGED_FILE), merged };
}

/** Why a file may not have this name: it must stay in the folder of its group, and reach agents (6.4). */
function nameProblem(name: string): string | undefined {
  if (name === '' || /[/\\\0-\x1f\x7f]/.test(name)) return 'a name holds no slashes and no control characters';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `the name is longer than ${String(MAX_NAME_BYTES)} bytes`;
  if (name.startsWith('.')) return 'hidden files are not distributed';
  if (name.endsWith('.tmp')) return 'temporary files are not distributed';
  if (name.startsWith(MERGED_FILE) && name !== MERGED_FILE) return `only '${MERGED_FILE}' itself may begin so`;
  return undefined;
}

function addressProblem(address: string): string | undefined {
  try {
    parseAddress(address);
    return undefined;
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}

function repeated(lines: YamlLines, what: string): void {
  lines.add('warn', `Parsing '${FILES_YML}': redefinition of '${shown(what)}'. Ignoring repeated sections`);
}

type YamlPair = { readonly key: YamlNode; readonly name: string; readonly value: YamlNode };

/** Keys and values of a mapping, repeated keys too. @throws FilesYmlError for anything else */
function pairsOf(node: YamlNode): YamlPair[] {
  if (node.kind !== 'mapping' || node.decorated) throw unexpected(node);
  const pairs: YamlPair[] = [];
  const last = new Map<string, unknown>();
  for (let at = 0; at < node.children.length; at += 2) {
    const key = node.children[at];
    const value = node.children[at + 1];
    // A key without a colon has no value among the children either.
    if (key?.kind !== 'scalar' || key.decorated || value === undefined) throw unexpected(key ?? node);
    const name = String(key.value);
    pairs.push({ key, name, value });
    last.set(name, value.value);
  }
  const whole = node.value as Record<string, unknown>;
  const names = Object.keys(whole);
  // Where keys lack values, pairs are not what they seem: then they differ from what the parser has made of them.
  if (names.length !== last.size || names.some((name) => !Object.is(last.get(name) ?? null, whole[name] ?? null))) {
    throw unexpected(node);
  }
  return pairs;
}

/** @throws FilesYmlError for what is no scalar */
function textOf(node: YamlNode): string {
  if (node.kind !== 'scalar' || node.decorated) throw unexpected(node);
  return String(node.value);
}

/** @throws FilesYmlError when there is nothing after the key */
function required(node: YamlNode, name: string): YamlNode {
  if (isEmpty(node)) throw new FilesYmlError(`Expected value after '${shown(name)}' token`);
  return node;
}

function isEmpty({ kind, value, decorated }: YamlNode): boolean {
  return kind === null && !decorated && (value === null || value === undefined);
}

function unexpected(node: YamlNode): FilesYmlError {
  return new FilesYmlError(`Parsing error on line ${lineOf(node)}: unexpected token`);
}

/** Line of a node, the first one 0. A collection is opened where its key stands: its first child is nearer. */
function lineOf(node: YamlNode): string {
  return String((node.children[0]?.line ?? node.line) - 1);
}

/** A name for the log. */
function shown(text: string): string {
  return text.length > MAX_NAME_BYTES ? `${text.slice(0, MAX_NAME_BYTES)}...` : text;
}
