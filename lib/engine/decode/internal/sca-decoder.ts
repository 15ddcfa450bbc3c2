import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { Diagnostics, EngineEvent } from '../../event.js';
import { jsonStrings } from '../../json-text.js';
import { integerText, objectMember, stringMember, stringsMember } from '../json/json-values.js';
import { type JsonObject, parseJsonObject } from '../json/parse-json.js';
import {
  addField,
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  type RequestScaDump,
  setDecoder,
} from './internal-decoder.js';

/** Members of a check that are comma lists and become arrays. */
const LISTS = ['file', 'directory', 'registry', 'process', 'command'] as const;
/** Entries that are kept of such a list, and standards of `compliance`: a message could name tens of thousands. */
const MAX_LIST = 1000;
const MAX_STANDARDS = 100;
/**
 * Characters of what is remembered of checks and policies: of 20,000 checks a message could have given each a text of 64 KB. Ids
 * of policies are as long as svc-modulesd takes them (integrity-and-inventory.md 10.2).
 */
const MAX_POLICY_ID = 255;
const MAX_RESULT = 64;
const MAX_HASH = 128;
const NOT_APPLICABLE = 'not applicable';

/** Requests behind dumps that do not come right, until the next summary: some never do. */
const MAX_REPEATED_DUMPS = 3;

const SUMMARY_NUMBERS = ['start_time', 'end_time', 'passed', 'failed', 'invalid', 'total_checks', 'score'] as const;
/** Of those, the first that no field has. */
const UNUSED_NUMBERS = 2;

/**
 * Results of policy scans (queue `p`; integrity-and-inventory.md 10.5). An event goes to the rules only when something
 * changed.
 */
export class ScaDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #memory: AgentKnowledge;
  readonly #requestDump: RequestScaDump;
  readonly #diagnostics: Diagnostics;

  constructor(identities: Identities, memory: AgentKnowledge, requestDump: RequestScaDump, diagnostics: Diagnostics) {
    this.#identities = identities;
    this.#memory = memory;
    this.#requestDump = requestDump;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): InternalOutcome {
    const message = parseJsonObject(event.log);
    if (message === undefined) {
      this.#diagnostics.error(`Malformed JSON in a policy scan message of agent '${event.agentId}'.`);
      return 'done';
    }
    switch (stringMember(message, 'type')) {
      case 'check':
        return this.#check(event, message);
      case 'summary':
        return this.#summary(event, message);
      case 'policies':
        this.#policies(event.agentId, stringsMember(message, 'policies'));
        return 'done';
      case 'dump_end':
        this.#dumpEnd(event.agentId, message);
        return 'done';
      default:
        this.#diagnostics.error(`Unknown type of a policy scan message of agent '${event.agentId}'.`);
        return 'done';
    }
  }

  #check(event: EngineEvent, message: JsonObject): InternalOutcome {
    const check = objectMember(message, 'check');
    const scanId = message.get('id');
    const id = check?.get('id');
    const policy = stringMember(message, 'policy');
    const policyId = stringMember(message, 'policy_id');
    if (
      check === undefined ||
      typeof scanId !== 'number' ||
      typeof id !== 'number' ||
      policy === undefined ||
      policyId === undefined ||
      stringMember(check, 'title') === undefined
    ) {
      this.#diagnostics.error(`A policy check of agent '${event.agentId}' lacks a member that is required.`);
      return 'done';
    }
    const { agentId } = event;
    const result = stringMember(check, 'result') ?? NOT_APPLICABLE;
    if (policyId.length > MAX_POLICY_ID || result.length > MAX_RESULT) {
      this.#tooLong(agentId);
      return 'done';
    }
    const known = this.#memory.check(agentId, id);
    this.#memory.setCheck(agentId, id, { policyId: known?.policyId ?? policyId, result, scanId });
    if (known?.result === result) return 'done';
    setDecoder(event, this.#identities('sca'));
    addField(event, 'sca.type', 'check');
    addField(event, 'sca.scan_id', String(scanId));
    addField(event, 'sca.policy', policy);
    addCheckFields(event, check, result, known?.result);
    return 'rules';
  }

  #summary(event: EngineEvent, message: JsonObject): InternalOutcome {
    const summary = readSummary(message);
    if (summary === undefined) {
      this.#diagnostics.error(`A policy summary of agent '${event.agentId}' lacks a member that is required.`);
      return 'done';
    }
    const { agentId } = event;
    const { policyId, scanId, hash, hashFile, firstScan, numbers } = summary;
    if (policyId.length > MAX_POLICY_ID || hash.length > MAX_HASH || hashFile.length > MAX_HASH) {
      this.#tooLong(agentId);
      return 'done';
    }
    const [passed, failed, invalid, total, score] = numbers;
    const stored = this.#memory.scan(agentId, policyId);
    this.#memory.setScan(agentId, policyId, { hash, scanId });
    let dump: 'all' | 'changed' | undefined = stored === undefined && firstScan ? 'all' : undefined;
    if (this.#updatePolicy(agentId, summary)) {
      dump = 'all';
    }
    if (this.#memory.resultsHash(agentId, policyId) !== hash) {
      dump ??= firstScan ? 'all' : 'changed';
    }
    if (dump !== undefined) {
      this.#requestDump(agentId, policyId, dump === 'all');
    }
    if (!message.has('force_alert') && (firstScan || stored?.hash === hash)) {
      return 'done';
    }
    setDecoder(event, this.#identities('sca'));
    addField(event, 'sca.type', 'summary');
    addField(event, 'sca.scan_id', String(scanId));
    addField(event, 'sca.policy', summary.name);
    addField(event, 'sca.description', stringMember(message, 'description'));
    addField(event, 'sca.policy_id', policyId);
    addField(event, 'sca.passed', passed);
    addField(event, 'sca.failed', failed);
    addField(event, 'sca.invalid', invalid);
    addField(event, 'sca.total_checks', total);
    addField(event, 'sca.score', score);
    addField(event, 'sca.file', summary.file);
    return 'rules';
  }

  #tooLong(agentId: string): void {
    this.#diagnostics.error(
      `A policy scan message of agent '${agentId}' has an id, a result or a hash that is too long.`,
    );
  }

  /** Whether the policy's file changed: everything stored for it is then of no use. */
  #updatePolicy(agentId: string, { policyId, hashFile }: ScanSummary): boolean {
    const known = this.#memory.policy(agentId, policyId);
    if (known === undefined) {
      this.#memory.setPolicy(agentId, policyId, hashFile);
      return false;
    }
    if (known === hashFile) {
      return false;
    }
    this.#deletePolicy(agentId, policyId);
    return true;
  }

  #deletePolicy(agentId: string, policyId: string): void {
    this.#memory.deletePolicy(agentId, policyId);
    this.#memory.deleteChecks(agentId, policyId);
  }

  #policies(agentId: string, listed: readonly string[] | undefined): void {
    if (listed === undefined) {
      this.#diagnostics.error(`A list of policies of agent '${agentId}' lacks its policies.`);
      return;
    }
    const kept = new Set(listed);
    for (const policyId of this.#memory.policies(agentId)) {
      if (!kept.has(policyId)) {
        this.#deletePolicy(agentId, policyId);
      }
    }
  }

  #dumpEnd(agentId: string, message: JsonObject): void {
    const policyId = stringMember(message, 'policy_id');
    const scanId = message.get('scan_id');
    if (policyId === undefined || typeof scanId !== 'number') {
      this.#diagnostics.error(`The end of a policy dump of agent '${agentId}' lacks a member that is required.`);
      return;
    }
    this.#memory.deleteChecks(agentId, policyId, scanId);
    const hash = this.#memory.resultsHash(agentId, policyId);
    const scan = this.#memory.scan(agentId, policyId);
    if (hash === undefined || hash === scan?.hash) return;
    const repeated = (scan?.repeated ?? 0) + 1;
    if (scan !== undefined) this.#memory.setScan(agentId, policyId, { ...scan, repeated });
    if (repeated <= MAX_REPEATED_DUMPS) this.#requestDump(agentId, policyId, false);
  }
}

function addCheckFields(event: EngineEvent, check: JsonObject, result: string, previous: string | undefined): void {
  addField(event, 'sca.check.id', integerText(check.get('id')));
  for (const name of ['title', 'description', 'rationale', 'remediation']) {
    addField(event, `sca.check.${name}`, stringMember(check, name));
  }
  for (const [key, value] of [...(objectMember(check, 'compliance') ?? [])].slice(0, MAX_STANDARDS)) {
    addField(event, `sca.check.compliance.${key}`, integerText(value));
  }
  addField(event, 'sca.check.references', stringMember(check, 'references'));
  for (const name of LISTS) {
    const list = stringMember(check, name);
    addField(event, `sca.check.${name}`, list === undefined ? undefined : jsonStrings(list.split(',', MAX_LIST)));
  }
  addField(event, 'sca.check.result', result);
  addField(event, 'sca.check.reason', stringMember(check, 'reason'));
  addField(event, 'sca.check.previous_result', previous);
}

type ScanSummary = {
  readonly policyId: string;
  readonly scanId: number;
  readonly name: string;
  readonly file: string;
  readonly hash: string;
  readonly hashFile: string;
  readonly firstScan: boolean;
  /** Texts of `SUMMARY_NUMBERS` from `passed` on; the score is cut to an integer. */
  readonly numbers: readonly string[];
};

/** The members a summary must have; undefined when one is missing. */
function readSummary(message: JsonObject): ScanSummary | undefined {
  const policyId = stringMember(message, 'policy_id');
  const scanId = message.get('scan_id');
  const name = stringMember(message, 'name');
  const file = stringMember(message, 'file');
  const hash = stringMember(message, 'hash');
  const hashFile = stringMember(message, 'hash_file');
  const numbers = SUMMARY_NUMBERS.map((member) => message.get(member)).filter((value) => typeof value === 'number');
  if (
    policyId === undefined ||
    typeof scanId !== 'number' ||
    scanId < 0 ||
    name === undefined ||
    file === undefined ||
    hash === undefined ||
    hashFile === undefined ||
    numbers.length < SUMMARY_NUMBERS.length
  ) {
    return undefined;
  }
  return {
    policyId,
    scanId,
    name,
    file,
    hash,
    hashFile,
    firstScan: message.has('first_scan'),
    numbers: numbers.slice(UNUSED_NUMBERS).map((value) => String(Math.trunc(value))),
  };
}
