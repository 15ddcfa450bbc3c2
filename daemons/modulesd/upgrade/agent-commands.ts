import { isObject } from '../../../lib/json/is-object.js';
import { MAX_AGENT_TEXT } from './upgrade-limits.js';

/** One request to a part of an agent. */
export type AgentCommand = { readonly target: string; readonly payload: string | Buffer };

/** Steps of an upgrade (agents-and-groups.md 4.5). Agents before 4.1 take texts on `com`, the others JSON on `upgrade`. */
export type AgentCommands = {
  readonly open: (file: string) => AgentCommand;
  readonly write: (file: string, chunk: Buffer) => AgentCommand;
  readonly close: (file: string) => AgentCommand;
  readonly sha1: (file: string) => AgentCommand;
  readonly upgrade: (file: string, installer: string) => AgentCommand;
};

/** Has an agent not be restarted while a package is sent; it ends by itself. */
export const LOCK_RESTART: AgentCommand = { target: 'com', payload: 'lock_restart -1' };

/** Has an agent stop telling how its upgrade went. */
export const CLEAR_RESULT = json('clear_upgrade_result', {});

export const JSON_COMMANDS: AgentCommands = {
  open: (file) => json('open', { mode: 'wb', file }),
  write: (file, chunk) => json('write', { buffer: chunk.toString('base64'), length: chunk.length, file }),
  close: (file) => json('close', { file }),
  sha1: (file) => json('sha1', { file }),
  upgrade: (file, installer) => json('upgrade', { file, installer }),
};

export const TEXT_COMMANDS: AgentCommands = {
  open: (file) => text(`open wb ${file}`),
  write: (file, chunk) => ({
    target: 'com',
    payload: Buffer.concat([Buffer.from(`write ${chunk.length} ${file} `), chunk]),
  }),
  close: (file) => text(`close ${file}`),
  sha1: (file) => text(`sha1 ${file}`),
  upgrade: (file, installer) => text(`upgrade ${file} ${installer}`),
};

/** What an agent said: what it gives, or why not. */
export type CommandAnswer = { readonly ok: boolean; readonly text: string };

/** Reads `ok text`, `err text`, or `{"error":0,"message":"text","data":[]}`. What an agent says may be anything. */
export function readCommandAnswer(answer: string): CommandAnswer {
  const trimmed = answer.trim();
  if (trimmed === 'ok' || trimmed.startsWith('ok ')) return { ok: true, text: agentText(trimmed.slice(2)) };
  if (trimmed.startsWith('err')) return { ok: false, text: agentText(trimmed.slice(3)) };
  const value = parseObject(trimmed);
  if (value === undefined) return { ok: false, text: 'its answer is none of the protocol' };
  const { error, message } = value;
  return { ok: error === 0, text: agentText(typeof message === 'string' ? message : '') };
}

/** What an agent says, as it may be shown. */
export function agentText(said: string): string {
  return said
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, MAX_AGENT_TEXT);
}

function parseObject(said: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(said);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function json(command: string, parameters: Record<string, unknown>): AgentCommand {
  return { target: 'upgrade', payload: JSON.stringify({ command, parameters }) };
}

function text(payload: string): AgentCommand {
  return { target: 'com', payload };
}
