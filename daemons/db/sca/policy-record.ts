import { Packr } from 'msgpackr';
import * as z from 'zod';
import { StoreError } from '../../../lib/store/store-error.js';

const whole = z.number().int();

/** What the last summary told. */
const toldPolicy = z.object({
  name: z.string(),
  file: z.string(),
  description: z.string().optional(),
  references: z.string().optional(),
  hashFile: z.string(),
  hash: z.string(),
  scanId: whole,
  /** Epoch seconds by the agent's clock. */
  start: whole,
  end: whole,
  passed: whole,
  failed: whole,
  invalid: whole,
  total: whole,
  score: whole,
});
export type ToldPolicy = z.output<typeof toldPolicy>;

const policyRecord = z.object({
  /** What the keys of its checks begin with: another one after they were dropped, so that dropping costs nothing. */
  slot: whole,
  checks: whole,
  /** Bytes of the definitions of its checks. */
  bytes: whole,
  /** Digest of its stored results; empty when it is not known, or when there are none. */
  results: z.string(),
  /** Dumps that ended without the right results since the last summary. */
  repeated: whole,
  /** Absent as long as checks alone have come: their summary may have been lost. */
  told: toldPolicy.optional(),
});
/** What is stored of a policy of an agent as a whole. */
export type PolicyRecord = z.output<typeof policyRecord>;

const packr = new Packr({ useRecords: false, moreTypes: false });
const AGENT_BYTES = 4;

/** Bytes of a record. */
export function encodePolicy(record: PolicyRecord): Buffer {
  return Buffer.from(packr.pack(record));
}

/** @throws StoreError `damaged` */
export function decodePolicy(bytes: Buffer): PolicyRecord {
  try {
    return policyRecord.parse(packr.unpack(bytes));
  } catch (error) {
    throw new StoreError('damaged', 'queue/db/sca: a policy is not what it should be', { cause: error });
  }
}

/** Key of a policy: those of an agent follow each other, in the order of their ids. @param agent `001` */
export function policyKey(agent: string, policyId: string): Buffer {
  const key = Buffer.allocUnsafe(AGENT_BYTES + Buffer.byteLength(policyId));
  key.writeUInt32BE(Number(agent), 0);
  key.write(policyId, AGENT_BYTES, 'utf8');
  return key;
}

/** The policy in such a key. */
export function policyOfKey(key: Buffer): string {
  return key.toString('utf8', AGENT_BYTES);
}

/** The agent in such a key, as a number. */
export function agentOfPolicyKey(key: Buffer): number {
  return key.readUInt32BE(0);
}

/** Keys of all policies of an agent. */
export function policiesRange(agent: number): {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly toExclusive: true;
} {
  const from = Buffer.allocUnsafe(AGENT_BYTES);
  from.writeUInt32BE(agent, 0);
  const to = Buffer.allocUnsafe(AGENT_BYTES);
  to.writeUInt32BE(agent + 1, 0);
  return { from, to, toExclusive: true };
}
