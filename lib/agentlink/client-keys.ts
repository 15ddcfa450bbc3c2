import { AgentAddress } from '../network/agent-address.js';
import { isAgentId, isAgentName, MANAGER_ID } from './agent-identity.js';
import { AgentKey } from './agent-key.js';

/** A line of the key file that is no key. The text has file and line, and nothing of the line: it may hold a secret. */
export type KeyFileProblem = { readonly line: number; readonly text: string };

/** An agent that was removed: its line is kept and its id is not given again (agents-and-groups.md 1.2). */
export type RemovedKey = { readonly id: string; readonly line: string };

/** What a key file says. */
export type ClientKeys = {
  /** In the order of the file, no id twice. */
  readonly agents: readonly AgentKey[];
  readonly removed: readonly RemovedKey[];
  readonly problems: readonly KeyFileProblem[];
  /** Whether the last line ends with a newline, so that another one may follow; so does a file without lines. */
  readonly terminated: boolean;
  /** The largest id of the file, removed agents included; 0 when there is none. */
  readonly highestId: number;
};

/** Longest line the reference reads; a longer one is refused, not cut. */
const MAX_LINE_CHARS = 2047;
/** Characters of a field that are kept (1.2). */
const MAX_FIELD_CHARS = 127;

type KeyLine = { readonly agent: AgentKey } | { readonly removed: RemovedKey } | { readonly problem: string };

/**
 * Reads the text of `etc/client.keys`: `<id> <name> <ip> <key>` a line, fields separated by one space. What is wrong with
 * a line is told by its place; all other lines count.
 * @param bytes the file's content
 * @param file its name, for the problems
 */
export function parseClientKeys(bytes: Buffer, file: string): ClientKeys {
  const agents = new Map<string, AgentKey>();
  const removed: RemovedKey[] = [];
  const problems: KeyFileProblem[] = [];
  let highestId = 0;
  // One character a byte: a key is digested as the bytes it has in the file.
  const lines = bytes.toString('latin1').split('\n');
  for (const [index, text] of lines.entries()) {
    const line = readLine(withoutCarriageReturns(text));
    if (line === undefined) continue;
    let problem: string | undefined;
    if ('problem' in line) {
      problem = line.problem;
    } else {
      const { id } = 'agent' in line ? line.agent : line.removed;
      highestId = Math.max(highestId, Number(id));
      if ('removed' in line) removed.push(line.removed);
      else if (agents.has(id)) problem = `agent ${id} stands there twice; its first line counts`;
      else agents.set(id, line.agent);
    }
    if (problem !== undefined) problems.push({ line: index + 1, text: describe(file, index + 1, problem) });
  }
  return { agents: [...agents.values()], removed, problems, terminated: lines.at(-1) === '', highestId };
}

function describe(file: string, line: number, problem: string): string {
  return `(1401): Error reading authentication key: '${file}:${line}: ${problem}'.`;
}

/** Reads a line; undefined for one that is to be skipped. */
function readLine(text: string): KeyLine | undefined {
  if (text === '' || text.startsWith('#') || text.startsWith(' ')) return undefined;
  if (text.length > MAX_LINE_CHARS) return { problem: `the line is longer than ${MAX_LINE_CHARS} characters` };
  const [id, name, ip, key] = fieldsOf(text);
  if (!isAgentId(id) || Number(id) === Number(MANAGER_ID)) return { problem: 'the id is not a number of an agent' };
  // Removed agents: `!name`, or in old files `#*#*#` over the rest.
  if (name.startsWith('!') || name.startsWith('#')) return { removed: { id, line: text } };
  if (ip === undefined || key === undefined || key === '') return { problem: 'id, name, address and key are needed' };
  if (key.includes('\r')) return { problem: 'the key has a carriage return' };
  if (!isAgentName(name) || name.length > MAX_FIELD_CHARS) return { problem: 'the name is not valid' };
  const address = ip.length <= MAX_FIELD_CHARS ? AgentAddress.parse(ip) : undefined;
  if (address === undefined) return { problem: 'the address is neither any, an address, nor a network' };
  return { agent: new AgentKey(id, name, address, key.slice(0, MAX_FIELD_CHARS)) };
}

/** A key is text without a carriage return: at the end of a line it would not come back from the file. */
function withoutCarriageReturns(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\r') end -= 1;
  return text.slice(0, end);
}

/** Three fields, each ended by one space, and the rest. */
function fieldsOf(text: string): [id: string, name: string, ip?: string, key?: string] {
  const first = text.indexOf(' ');
  if (first < 0) return [text, ''];
  const second = text.indexOf(' ', first + 1);
  if (second < 0) return [text.slice(0, first), text.slice(first + 1)];
  const [id, name] = [text.slice(0, first), text.slice(first + 1, second)];
  const third = text.indexOf(' ', second + 1);
  if (third < 0) return [id, name, text.slice(second + 1)];
  return [id, name, text.slice(second + 1, third), text.slice(third + 1)];
}
