import * as z from 'zod';
import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { parseDuration } from '../../lib/config/units.js';
import { isObject } from '../../lib/json/is-object.js';
import type { Logger } from '../../lib/log/logger.js';
import type { KeyRegistry } from './key-registry.js';
import { type LocalAgents, type LocalErrorCode, LocalRequestError } from './local-agents.js';
import type { ForceRules } from './replacement-rule.js';

/** Texts of the local socket (agents-and-groups.md 2.6). */
const TEXTS = {
  9001: 'Internal error',
  9002: 'Parsing JSON input',
  9003: 'No such function',
  9004: 'No such argument',
  9005: 'No such name',
  9006: 'No such IP',
  9007: 'Duplicate IP',
  9008: 'Duplicate name',
  9009: 'Issue generating key',
  9010: 'No such agent ID',
  9011: 'Agent ID not found',
  9012: 'Duplicate ID',
  9014: 'Invalid Group(s) Name(s)',
} as const;
type LocalCode = keyof typeof TEXTS;

const CODES: Readonly<Record<LocalErrorCode, LocalCode>> = {
  duplicate_id: 9012,
  duplicate_ip: 9007,
  duplicate_name: 9008,
  manager_name: 9008,
  bad_id: 9009,
  bad_name: 9005,
  bad_key: 9009,
  bad_ip: 9006,
  bad_groups: 9014,
  unknown_group: 9014,
  cluster_unavailable: 9001,
  write_failed: 9009,
};

class LocalFailure extends Error {
  override readonly name = 'LocalFailure';

  constructor(readonly code: LocalCode) {
    super(TEXTS[code]);
  }
}

const seconds = z
  .union([z.number().int().min(0), z.string().transform((text) => parseDuration(text) ?? -1)])
  .refine((value) => value >= 0);

/** All of it is needed when there is a `force`. */
const force = z
  .object({
    enabled: z.boolean(),
    key_mismatch: z.boolean(),
    disconnected_time: z.object({ enabled: z.boolean(), value: seconds }),
    after_registration_time: seconds,
  })
  .transform(({ disconnected_time, ...rest }): ForceRules => ({
    ...rest,
    disconnected_time: { enabled: disconnected_time.enabled, seconds: disconnected_time.value },
  }));

type Arguments = Readonly<Record<string, unknown>>;

/** Answers `queue/sockets/auth`: JSON requests of existing scripts, and the text command `getconfig` (2.6). */
export class LocalSocketService {
  constructor(
    private readonly local: LocalAgents,
    private readonly keys: Pick<KeyRegistry, 'byId'>,
    /** The section `auth` as it is shown. */
    private readonly section: () => Record<string, unknown>,
    private readonly logger: Logger,
  ) {}

  async answer(request: Buffer): Promise<string> {
    const text = request.toString('utf8').replace(/[\0\n]+$/, '');
    if (!text.startsWith('{')) return this.#command(text);
    try {
      return JSON.stringify({ error: 0, data: await this.#call(text) });
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      const reason = error instanceof LocalRequestError ? ` ${error.message}` : '';
      this.logger.error(`ERROR ${code}: ${TEXTS[code]}.${reason}`);
      return JSON.stringify({ error: code, message: TEXTS[code] });
    }
  }

  #command(text: string): string {
    const [command, section] = text.split(' ');
    if (command !== 'getconfig') return 'err Unrecognized command';
    return section === 'auth' ? `ok ${JSON.stringify(this.section())}` : 'err Could not get requested section';
  }

  async #call(text: string): Promise<unknown> {
    const request = parseObject(text);
    const name = request['function'];
    if (typeof name !== 'string') throw new LocalFailure(9003);
    const given = request['arguments'];
    if (!isObject(given)) throw new LocalFailure(9004);
    switch (name) {
      case 'add':
        return this.#add(given);
      case 'remove':
        return this.#remove(given);
      case 'get':
        return shown(this.#find(given));
      default:
        throw new LocalFailure(9001);
    }
  }

  async #add(given: Arguments): Promise<unknown> {
    const name = given['name'];
    if (typeof name !== 'string') throw new LocalFailure(9005);
    const ip = given['ip'];
    if (typeof ip !== 'string') throw new LocalFailure(9006);
    const rules = given['force'] === undefined ? undefined : force.safeParse(given['force']);
    if (rules?.success === false) throw new LocalFailure(9002);
    return shown(
      await this.local.add({
        name,
        ip,
        id: textOf(given, 'id'),
        key: textOf(given, 'key'),
        groups: textOf(given, 'groups'),
        keyHash: textOf(given, 'key_hash'),
        force: rules?.data,
      }),
    );
  }

  async #remove(given: Arguments): Promise<string> {
    const { id } = this.#find(given);
    // Only the literal true: a number or a text must not destroy a line that cannot be had back.
    const removed = await this.local.remove([id], given['purge'] === true);
    if (removed.length === 0) throw new LocalFailure(9011);
    return 'Agent deleted successfully.';
  }

  #find(given: Arguments): AgentKey {
    const id = given['id'];
    if (typeof id !== 'string') throw new LocalFailure(9010);
    const agent = this.keys.byId(id);
    if (agent === undefined) throw new LocalFailure(9011);
    return agent;
  }
}

function codeOf(error: unknown): LocalCode | undefined {
  if (error instanceof LocalFailure) return error.code;
  return error instanceof LocalRequestError ? CODES[error.code] : undefined;
}

function shown({ id, name, ip, rawKey }: AgentKey): Record<string, string> {
  return { id, name, ip, key: rawKey };
}

function textOf(given: Arguments, name: string): string | undefined {
  const value = given[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parseObject(text: string): Arguments {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Answered below.
  }
  throw new LocalFailure(9002);
}
