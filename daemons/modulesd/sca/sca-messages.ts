import { createHash } from 'node:crypto';
import type { Evaluation, ScaResult } from '../../../lib/sca/evaluate.js';
import type { ScaCheck, ScaPolicy } from '../../../lib/sca/policy.js';
import { scoreOf } from '../../../lib/sca/score.js';

/**
 * Bytes of a message: what agents send has 65,408 with its header, and a manager puts the agent's name in front of it
 * (integrity-and-inventory.md 15, trap 35).
 */
const MOST_MESSAGE_BYTES = 64_000;
/** Put behind a text that was cut. */
const CUT = '...';

/** What is told of one scan of a policy. */
export type PolicyScan = {
  readonly policy: ScaPolicy;
  /** SHA-256 of the policy's file. */
  readonly fileHash: string;
  /** Positive; the same in all messages of the scan. */
  readonly scanId: number;
  /** Epoch seconds. */
  readonly started: number;
  readonly ended: number;
  /** By the ids of checks, rising. */
  readonly results: readonly ScaResult[];
};

/** A message, and whether it had to be cut to its limit. */
export type ScaMessage = { readonly text: string; readonly cut: boolean };

type Members = Readonly<Record<string, unknown>>;

/** Message of a check (integrity-and-inventory.md 10.4). */
export function checkMessage(
  { id: policyId, name }: ScaPolicy,
  scanId: number,
  check: ScaCheck,
  evaluation: Evaluation,
): ScaMessage {
  const members = checkMembers(check, evaluation);
  const textOf = (shown: Members): string =>
    JSON.stringify({ type: 'check', id: scanId, policy: name, policy_id: policyId, check: shown });
  return fit(members, textOf);
}

function checkMembers(check: ScaCheck, { result, reason, looked }: Evaluation): Members {
  const { description, rationale, remediation, references, compliance, rules } = check;
  const { file, directory, process, command } = looked;
  return {
    ...{ id: check.id, title: check.title, description, rationale, remediation },
    compliance:
      compliance.length === 0
        ? undefined
        : Object.fromEntries(compliance.map(([key, values]) => [key, values.join(',')])),
    rules: rules.map(({ text }) => text),
    condition: check.condition,
    references: joined(references),
    ...{ file: joined(file), directory: joined(directory), process: joined(process), command: joined(command) },
    ...(result === 'na' ? { status: 'Not applicable', reason } : { result }),
  };
}

function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join(',');
}

/** What is cut of a message that is too long, the least important first. */
const CUTTABLE = ['rationale', 'description', 'remediation', 'references', 'reason', 'title'];
const CUTTABLE_LISTS = ['file', 'directory', 'process', 'command'];

/** Cuts a message to its limit: texts first, then what was looked at, then rules and compliance. */
function fit(members: Members, textOf: (members: Members) => string): ScaMessage {
  let text = textOf(members);
  if (Buffer.byteLength(text) <= MOST_MESSAGE_BYTES) return { text, cut: false };
  const shown: Record<string, unknown> = { ...members };
  for (const name of [...CUTTABLE, ...CUTTABLE_LISTS]) {
    const value = shown[name];
    if (typeof value !== 'string') continue;
    // Escapes make a text longer than it is: it is cut by what there is too much, until it is short enough.
    for (let kept = value.length; kept > 0 && Buffer.byteLength(text) > MOST_MESSAGE_BYTES;) {
      const surplus = Buffer.byteLength(text) - MOST_MESSAGE_BYTES;
      kept = Math.max(0, kept - Math.max(CUT.length, Math.ceil(surplus / MOST_BYTES_A_UNIT)));
      shown[name] = `${wellFormed(value.slice(0, kept))}${CUT}`;
      text = textOf(shown);
    }
  }
  const rules = members['rules'];
  for (let kept = Array.isArray(rules) ? rules.length : 0; Buffer.byteLength(text) > MOST_MESSAGE_BYTES && kept > 0;) {
    kept = Math.floor(kept / 2);
    shown['rules'] = (rules as readonly unknown[]).slice(0, kept);
    text = textOf(shown);
  }
  if (Buffer.byteLength(text) > MOST_MESSAGE_BYTES) text = textOf({ ...shown, compliance: undefined });
  return { text, cut: true };
}

/** Bytes that one unit of a text takes in JSON at most: a control character is `\u0001`. */
const MOST_BYTES_A_UNIT = 6;

/** Without half a character at its end. */
function wellFormed(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** Message of a whole scan. @param end member at its end: the first scan after a start, or the answer to a request of it */
export function summaryMessage(scan: PolicyScan, end?: 'first_scan' | 'force_alert'): ScaMessage {
  const { policy, fileHash, scanId, started, ended, results } = scan;
  const count = (result: ScaResult): number => results.filter((each) => each === result).length;
  const [passed, failed, invalid] = [count('passed'), count('failed'), count('na')];
  const score = wireNumber(scoreOf(passed, failed));
  const endings = { first_scan: { first_scan: 1 }, force_alert: { force_alert: '1' } };
  return fit(
    { name: policy.name, description: policy.description, references: joined(policy.references) },
    ({ name, description, references }) => {
      const before = {
        ...{ type: 'summary', scan_id: scanId, name, policy_id: policy.id, file: policy.file, description, references },
        ...{ passed, failed, invalid, total_checks: results.length },
      };
      const after = {
        ...{ start_time: started, end_time: ended, hash: resultHash(results), hash_file: fileHash },
        ...(end === undefined ? {} : endings[end]),
      };
      return `${JSON.stringify(before).slice(0, -1)},"score":${score},${JSON.stringify(after).slice(1)}`;
    },
  );
}

/** Message behind those of all policies: the ids of those there are. */
export function policiesMessage(ids: readonly string[]): string {
  return JSON.stringify({ type: 'policies', policies: ids });
}

/** Message behind all checks of a policy that were asked for. */
export function dumpEndMessage({ policy, scanId }: PolicyScan, sent: number): string {
  return JSON.stringify({ type: 'dump_end', policy_id: policy.id, elements_sent: sent, scan_id: scanId });
}

/** SHA-256 of results, by the ids of their checks, rising; one that is not applicable is empty (integrity-and-inventory.md 15, trap 27). */
export function resultHash(results: readonly ScaResult[]): string {
  const text = results.map((result) => (result === 'na' ? '' : result)).join(':');
  return createHash('sha256').update(text).digest('hex');
}

/** A number as agents print it: 15 digits where they do, 17 otherwise. */
function wireNumber(value: number): string {
  const short = Number(value.toPrecision(15));
  return short === value ? String(short) : value.toPrecision(17).replace(/\.?0+$/, '');
}
