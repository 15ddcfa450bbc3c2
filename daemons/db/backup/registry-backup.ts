import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { agentRecord } from '../agent-record.js';
import type { Registry } from '../registry.js';

/** Marks a file as a backup of the registry. */
const FORMAT = 'security-manager registry';
const VERSION = 1;
/** Agents that are written down before other work has its turn. */
const AGENTS_PER_TURN = 500;

const head = z.object({
  backup: z.literal(FORMAT),
  version: z.literal(VERSION),
  made: z.string(),
  agents: z.number().int().min(0),
  groups: z.number().int().min(0),
});
const group = z.object({ group: z.string(), dateAdd: z.number().int() });
const agent = z.object({
  agent: z.number().int().min(0),
  record: agentRecord,
  lastKeepAlive: z.number().optional(),
  labels: z.array(z.tuple([z.string(), z.string()])).optional(),
});
const end = z.object({ sha256: z.string() });

export type BackedUpAgent = z.output<typeof agent>;

/** What a backup has. */
export type RegistryBackup = {
  /** ISO 8601. */
  readonly made: string;
  readonly groups: readonly z.output<typeof group>[];
  readonly agents: readonly BackedUpAgent[];
};

/** A file that is none, or not whole. */
export class RegistryBackupError extends Error {
  override readonly name = 'RegistryBackupError';
}

/**
 * The registry as lines of JSON, with the sum of all before at the end. Agents are those of the first moment; requests go on
 * while they are written down.
 */
export async function* writeRegistryBackup(registry: Registry, now: Date): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const line = (value: unknown): string => {
    const text = `${JSON.stringify(value)}\n`;
    hash.update(text);
    return text;
  };
  // Records are replaced whole, never changed: the lists of this moment stay as they are.
  const agents = registry.agents.byId().map(({ id, record, lastKeepAlive }) => ({ id, record, lastKeepAlive }));
  const groups = [...registry.groups];
  const counts = { agents: agents.length, groups: groups.length };
  yield line({ backup: FORMAT, version: VERSION, made: now.toISOString(), ...counts });
  for (const [name, { dateAdd }] of groups) yield line({ group: name, dateAdd });
  for (let at = 0; at < agents.length; at += AGENTS_PER_TURN) {
    let text = '';
    for (const { id, record, lastKeepAlive } of agents.slice(at, at + AGENTS_PER_TURN)) {
      const labels = registry.labels(id);
      text += line({ agent: id, record, lastKeepAlive, ...(labels.length === 0 ? {} : { labels }) });
    }
    yield text;
    await nextTurn();
  }
  yield `${JSON.stringify({ sha256: hash.digest('hex') })}\n`;
}

/** @param text of a whole backup @throws RegistryBackupError that says what is wrong */
export function readRegistryBackup(text: string): RegistryBackup {
  const last = text.lastIndexOf('\n', text.length - 2);
  const body = text.slice(0, last + 1);
  const sum = parsed(end, text.slice(last + 1), 'its last line');
  if (!text.endsWith('\n') || sum.sha256 !== createHash('sha256').update(body).digest('hex')) {
    throw new RegistryBackupError('it is not whole, or was changed: its sum is another one');
  }
  const [first = '', ...lines] = body.split('\n').slice(0, -1);
  const { made, agents: count, groups: groupCount } = parsed(head, first, 'its first line');
  const groups = lines.slice(0, groupCount).map((line, index) => parsed(group, line, `line ${String(index + 2)}`));
  const agents = lines
    .slice(groupCount)
    .map((line, index) => parsed(agent, line, `line ${String(index + groupCount + 2)}`));
  if (agents.length !== count) {
    throw new RegistryBackupError(`it has ${String(agents.length)} agents of ${String(count)}`);
  }
  return { made, groups, agents };
}

function parsed<T>(schema: z.ZodType<T>, line: string, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new RegistryBackupError(`it is no backup of agents: ${where} is no JSON`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new RegistryBackupError(`it is no backup of agents: ${where} is not as it should be`);
}
