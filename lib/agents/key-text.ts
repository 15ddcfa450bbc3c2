import { isAgentId, isAgentName } from '../agentlink/agent-identity.js';
import { AgentAddress } from '../network/agent-address.js';

/** An agent with its key, as one line of the key file has it. */
export type KeyText = { readonly id: string; readonly name: string; readonly ip: string; readonly key: string };

/** Longest text that is read: four fields of the key file. */
const MAX_TEXT = 2048;

/** What an operator carries from the manager to an agent: base64 of `<id> <name> <ip> <key>` (agents-and-groups.md 9.3). */
export function encodeKeyText({ id, name, ip, key }: KeyText): string {
  return Buffer.from(`${id} ${name} ${ip} ${key}`, 'latin1').toString('base64');
}

/** Reads such a text; undefined when it is none. */
export function decodeKeyText(text: string): KeyText | undefined {
  if (text.length > MAX_TEXT || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return parseKeyText(Buffer.from(text, 'base64').toString('latin1'));
}

/** Reads `<id> <name> <ip> <key>`; undefined unless all four are valid. */
export function parseKeyText(text: string): KeyText | undefined {
  const fields = text.split(' ');
  const [id = '', name = '', ip = '', key = ''] = fields;
  const valid =
    fields.length === 4 &&
    isAgentId(id) &&
    isAgentName(name) &&
    AgentAddress.parse(ip) !== undefined &&
    /^[\x21-\x7e]{1,127}$/.test(key);
  return valid ? { id, name, ip, key } : undefined;
}
