import { type JsonMessage, type JsonObject, readJson } from '../../../lib/events/sync/read-json.js';
import { isObject } from '../../../lib/json/is-object.js';
import type { CheckDefinition, CheckResult, Tag } from './check-row.js';
import { MAX_CHECK_ID, MAX_POLICY_ID_BYTES, MAX_RULES, MAX_TAGS } from './sca-limits.js';

/** A check and how it went on an agent. */
export type CheckMessage = {
  readonly type: 'check';
  readonly policyId: string;
  /** Name of the policy. */
  readonly policy: string;
  readonly scanId: number;
  readonly id: number;
  readonly result: CheckResult;
  readonly reason: string | undefined;
  readonly definition: CheckDefinition;
};

/** What a policy came to in a scan. */
export type SummaryMessage = {
  readonly type: 'summary';
  readonly policyId: string;
  readonly name: string;
  readonly file: string;
  readonly description: string | undefined;
  readonly references: string | undefined;
  /** Of the policy's file. */
  readonly hashFile: string;
  /** Of all results (integrity-and-inventory.md 10.4). */
  readonly hash: string;
  readonly scanId: number;
  /** Epoch seconds by the agent's clock. */
  readonly start: number;
  readonly end: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly total: number;
  /** 0 to 100, cut to an integer. */
  readonly score: number;
  readonly isFirst: boolean;
};

/** What agents say on queue p (integrity-and-inventory.md 10.4). */
export type ScaMessage =
  | CheckMessage
  | SummaryMessage
  | { readonly type: 'policies'; readonly policies: readonly string[] }
  | { readonly type: 'dump_end'; readonly policyId: string; readonly scanId: number };

/** Type of a rule by the first letter of its text; `not ...` is numeric, as in the reference (15, trap 26). */
const RULE_TYPES: ReadonlyMap<string, string> = new Map([
  ['f', 'file'],
  ['d', 'directory'],
  ['r', 'registry'],
  ['c', 'command'],
  ['p', 'process'],
  ['n', 'numeric'],
]);
const CONDITIONS = ['all', 'any', 'none'] as const;
/** What would end the order that names the policy, or begin another one. */
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Reads a message. @returns undefined when it is none, or lacks what it must have */
export function readScaMessage(bytes: Uint8Array): ScaMessage | undefined {
  const message = readJson(bytes);
  if (message === undefined) return undefined;
  const reader = new MessageReader(message, message.value);
  switch (message.value['type']) {
    case 'check':
      return readCheck(reader);
    case 'summary':
      return readSummary(reader);
    case 'policies': {
      const policies = reader.texts('policies');
      return policies === undefined ? undefined : { type: 'policies', policies };
    }
    case 'dump_end': {
      const policyId = reader.policyId();
      const scanId = reader.whole('scan_id');
      return policyId === undefined || scanId === undefined ? undefined : { type: 'dump_end', policyId, scanId };
    }
    default:
      return undefined;
  }
}

function readCheck(message: MessageReader): CheckMessage | undefined {
  const check = message.object('check');
  const [policyId, policy, scanId] = [message.policyId(), message.text('policy'), message.whole('id')];
  if (check === undefined || policyId === undefined || policy === undefined || scanId === undefined) return undefined;
  const id = check.whole('id');
  const title = check.text('title');
  const result = readResult(check.text('result'));
  if (id === undefined || id < 0 || id > MAX_CHECK_ID || title === undefined || result === undefined) return undefined;
  const compliance = check.object('compliance')?.tags() ?? [];
  const rules = (check.texts('rules') ?? []).flatMap((rule): Tag[] => {
    const type = RULE_TYPES.get(rule.charAt(0));
    return type === undefined ? [] : [[type, rule]];
  });
  if (compliance.length > MAX_TAGS || rules.length > MAX_RULES) return undefined;
  const condition = check.text('condition');
  return {
    type: 'check',
    policyId,
    policy,
    scanId,
    id,
    result,
    reason: check.text('reason'),
    definition: {
      title,
      description: check.text('description'),
      rationale: check.text('rationale'),
      remediation: check.text('remediation'),
      file: check.text('file'),
      process: check.text('process'),
      directory: check.text('directory'),
      registry: check.text('registry'),
      command: check.text('command'),
      references: check.text('references'),
      // Old policies say `all required`.
      condition: CONDITIONS.find((name) => condition === name || condition?.startsWith(`${name} `) === true),
      compliance,
      rules,
    },
  };
}

/** A check that did not apply has no result; older agents send an empty one. */
function readResult(text: string | undefined): CheckResult | undefined {
  switch (text) {
    case 'passed':
    case 'failed':
    case 'not applicable':
      return text;
    case undefined:
    case '':
      return 'not applicable';
    default:
      return undefined;
  }
}

function readSummary(message: MessageReader): SummaryMessage | undefined {
  const policyId = message.policyId();
  const [name, file] = [message.text('name'), message.text('file')];
  const [hash, hashFile] = [message.text('hash'), message.text('hash_file')];
  if (policyId === undefined || name === undefined || file === undefined) return undefined;
  if (hash === undefined || hashFile === undefined) return undefined;
  const numbers = ['scan_id', 'start_time', 'end_time', 'passed', 'failed', 'invalid', 'total_checks', 'score'].map(
    (member) => message.number(member),
  );
  const [scanId, start, end, passed, failed, invalid, total, score] = numbers;
  if (scanId === undefined || start === undefined || end === undefined || passed === undefined) return undefined;
  if (failed === undefined || invalid === undefined || total === undefined || score === undefined) return undefined;
  if (scanId < 0) return undefined;
  const description = message.text('description');
  const references = message.text('references');
  const isFirst = message.has('first_scan');
  const told = { name, file, description, references, hashFile, hash };
  return { type: 'summary', policyId, ...told, scanId, start, end, passed, failed, invalid, total, score, isFirst };
}

/** Reads members of an object of a message: those of another type are as good as absent. */
class MessageReader {
  readonly #message: JsonMessage;
  readonly #object: JsonObject;

  constructor(message: JsonMessage, object: JsonObject) {
    this.#message = message;
    this.#object = object;
  }

  has(name: string): boolean {
    return this.#object[name] !== undefined;
  }

  text(name: string): string | undefined {
    const value = this.#object[name];
    return typeof value === 'string' ? this.#message.text(value) : undefined;
  }

  policyId(): string | undefined {
    const id = this.text('policy_id');
    if (id === undefined || id === '' || CONTROL.test(id)) return undefined;
    return Buffer.byteLength(id) > MAX_POLICY_ID_BYTES ? undefined : id;
  }

  /** An integer. */
  whole(name: string): number | undefined {
    const value = this.#object[name];
    return Number.isSafeInteger(value) ? (value as number) : undefined;
  }

  /** A number, cut to an integer. */
  number(name: string): number | undefined {
    const value = this.#object[name];
    const cut = typeof value === 'number' ? Math.trunc(value) : Number.NaN;
    return Number.isSafeInteger(cut) ? cut : undefined;
  }

  object(name: string): MessageReader | undefined {
    const value = this.#object[name];
    return isObject(value) ? new MessageReader(this.#message, value) : undefined;
  }

  texts(name: string): string[] | undefined {
    const value = this.#object[name];
    if (!Array.isArray(value)) return undefined;
    return value.filter((item) => typeof item === 'string').map((item) => this.#message.text(item));
  }

  /** All members that are texts, or numbers as such. */
  tags(): Tag[] {
    return Object.entries(this.#object).flatMap(([key, value]): Tag[] => {
      if (typeof value === 'number') return [[this.#message.text(key), String(Math.trunc(value))]];
      return typeof value === 'string' ? [[this.#message.text(key), this.#message.text(value)]] : [];
    });
  }
}
