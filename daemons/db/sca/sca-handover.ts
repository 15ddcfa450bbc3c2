import { Packr } from 'msgpackr';
import type { HandoverRow } from '../../../lib/bus/contracts/db-handover.js';
import type { HandoverStore, SectionRow } from '../handover/handover-store.js';
import type { BatchWriter } from '../rows/batch-writer.js';
import { slotRange } from '../rows/row-keys.js';
import { type CheckDefinition, type CheckRow, decodeCheck, decodeDefinition } from './check-row.js';
import { decodePolicy, policiesRange, policyKey, policyOfKey, type PolicyRecord } from './policy-record.js';
import type { ScaBatch } from './sca-batch.js';
import { checkKey, checkOfKey, definitionKey } from './sca-keys.js';
import type { ScaTables } from './sca-store.js';

/** The row of a section that is the policy itself; checks have their ids. */
const POLICY_KEY = Buffer.alloc(0);
const ID_BYTES = 6;
const packr = new Packr({ useRecords: false, moreTypes: false });

/** What a page says of one policy. */
type ToldPolicyPage = {
  record: PolicyRecord | undefined;
  readonly checks: { readonly id: number; readonly check: CheckRow; readonly definition: CheckDefinition }[];
};

/** Results of policies on their way from node to node: a section a policy, its texts with each check. */
export class ScaHandover implements HandoverStore {
  readonly #tables: ScaTables;
  readonly #writer: BatchWriter<ScaBatch>;

  constructor(tables: ScaTables, writer: BatchWriter<ScaBatch>) {
    this.#tables = tables;
    this.#writer = writer;
  }

  sections(agent: string): readonly string[] {
    return [...this.#tables.policies.keys(policiesRange(Number(agent)))].map(policyOfKey);
  }

  *rows(agent: string, section: string, after: Buffer | undefined): Generator<SectionRow> {
    const { policies, checks, definitions } = this.#tables;
    const bytes = policies.get(policyKey(agent, section));
    if (bytes === undefined) return;
    if (after === undefined) yield { key: POLICY_KEY, value: bytes };
    const { slot } = decodePolicy(bytes);
    const behind = after?.length === ID_BYTES ? { from: checkKey(slot, after.readUIntBE(0, ID_BYTES)) } : {};
    for (const { key, value } of checks.entries({ ...slotRange(slot), ...behind, fromExclusive: true })) {
      const definition = definitions.get(definitionKey(decodeCheck(value).definition));
      if (definition === undefined) continue;
      const id = Buffer.alloc(ID_BYTES);
      id.writeUIntBE(checkOfKey(key), 0, ID_BYTES);
      yield { key: id, value: packr.pack([value, definition]) };
    }
  }

  async adopt(agent: string, rows: readonly HandoverRow[]): Promise<number> {
    const told = readRows(rows);
    return await this.#writer.write((batch) => {
      let stored = 0;
      for (const [id, page] of told) stored += adoptPolicy(batch, agent, id, page);
      return stored;
    });
  }
}

/** @throws Error */
function readRows(rows: readonly HandoverRow[]): Map<string, ToldPolicyPage> {
  const told = new Map<string, ToldPolicyPage>();
  for (const { section, key, value } of rows) {
    const page: ToldPolicyPage = told.get(section) ?? { record: undefined, checks: [] };
    told.set(section, page);
    if (key.length === 0) {
      page.record = decodePolicy(Buffer.from(value));
      continue;
    }
    const [check, definition] = packr.unpack(value) as [unknown, unknown];
    if (key.length !== ID_BYTES || !(check instanceof Uint8Array) || !(definition instanceof Uint8Array)) {
      throw new Error('a check of a policy is not what it should be');
    }
    const id = Buffer.from(key).readUIntBE(0, ID_BYTES);
    page.checks.push({
      id,
      check: decodeCheck(Buffer.from(check)),
      definition: decodeDefinition(Buffer.from(definition)),
    });
  }
  return told;
}

function adoptPolicy(batch: ScaBatch, agent: string, id: string, { record, checks }: ToldPolicyPage): number {
  let policy = batch.policy(agent, id) ?? batch.newPolicy(agent, id);
  if (policy === 'too_many_policies') return 0;
  if (policy.record.told === undefined && record?.told !== undefined) {
    policy = { ...policy, record: { ...policy.record, told: record.told } };
  }
  let stored = 0;
  for (const { id: check, check: row, definition } of checks) {
    if (batch.hasCheck(policy, check)) continue;
    const next = batch.putCheck(policy, check, row, definition);
    if (typeof next === 'string') break;
    policy = next;
    stored += 1;
  }
  return batch.putPolicy(batch.summedUp(policy)) === undefined ? stored : 0;
}
