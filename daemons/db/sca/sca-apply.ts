import type { ScaOperation } from '../../../lib/bus/contracts/db-sca.js';
import type { DumpOrders } from './dump-orders.js';
import { type CheckMessage, readScaMessage, type SummaryMessage } from './read-sca-message.js';
import type { OpenPolicy, ScaBatch } from './sca-batch.js';
import type { Refusal } from './sca-counters.js';
import { MAX_REASON_BYTES, MAX_REPEATED_DUMPS } from './sca-limits.js';

/** What applying needs beside the batch. */
export type ApplyParts = {
  /** Told of a policy whose results are not asked for again, as they never are those that were summed up. */
  readonly onGivenUp: (policy: OpenPolicy) => void;
};

/**
 * Applies an event (integrity-and-inventory.md 10.5).
 * @param orders gets what the agent is to be asked for
 * @returns why nothing was stored
 */
export function applyEvent(
  batch: ScaBatch,
  { agent, message }: ScaOperation,
  orders: DumpOrders,
  parts: ApplyParts,
): Refusal | undefined {
  const told = readScaMessage(message);
  switch (told?.type) {
    case undefined:
      return 'malformed';
    case 'check':
      return applyCheck(batch, agent, told);
    case 'summary':
      return applySummary(batch, agent, told, orders);
    case 'policies':
      dropOthers(batch, agent, new Set(told.policies), orders);
      return undefined;
    case 'dump_end':
      endDump(batch, agent, told, orders, parts);
      return undefined;
  }
}

/**
 * An event that is applied already: the answer that asked for results may not have been heard, so what still lacks is asked for
 * again.
 */
export function repeatEvent(batch: ScaBatch, { agent, message }: ScaOperation, orders: DumpOrders): void {
  const told = readScaMessage(message);
  if (told?.type !== 'summary' && told?.type !== 'dump_end') return;
  const policy = batch.policy(agent, told.policyId);
  if (policy?.record.told === undefined || isComplete(batch.summedUp(policy))) {
    orders.drop(agent, told.policyId);
  } else if (told.type === 'summary') {
    orders.want(agent, told.policyId, told.isFirst || policy.record.checks === 0);
  } else if (policy.record.repeated <= MAX_REPEATED_DUMPS) {
    orders.want(agent, told.policyId, false);
  }
}

function applyCheck(batch: ScaBatch, agent: string, message: CheckMessage): Refusal | undefined {
  const { policyId, id, result, scanId, definition } = message;
  const policy = batch.policy(agent, policyId) ?? batch.newPolicy(agent, policyId);
  if (policy === 'too_many_policies') return policy;
  const reason = message.reason === undefined ? undefined : cut(message.reason);
  const changed = batch.putCheck(policy, id, { result, reason, scanId }, definition);
  return typeof changed === 'string' ? changed : batch.putPolicy(changed);
}

/** A reason names what could not be read, which may be long. */
function cut(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}

function applySummary(
  batch: ScaBatch,
  agent: string,
  message: SummaryMessage,
  orders: DumpOrders,
): Refusal | undefined {
  const { policyId, isFirst } = message;
  const known = batch.policy(agent, policyId);
  const policy = known ?? batch.newPolicy(agent, policyId);
  if (policy === 'too_many_policies') return policy;
  const hashFile = known?.record.told?.hashFile;
  // Another file: nothing of what is stored need be true any more.
  const isAnother = hashFile !== undefined && hashFile !== message.hashFile;
  const { type: _type, policyId: _policyId, isFirst: _isFirst, ...told } = message;
  const retold = { ...policy, record: { ...policy.record, told, repeated: 0 } };
  const refusal = batch.putPolicy(retold);
  if (refusal !== undefined) return refusal;
  const updated = batch.summedUp(isAnother ? batch.dropChecks(retold) : retold);
  batch.putPolicy(updated);
  if (updated.record.results === message.hash) orders.drop(agent, policyId);
  else orders.want(agent, policyId, isFirst || isAnother);
  return undefined;
}

function dropOthers(batch: ScaBatch, agent: string, kept: ReadonlySet<string>, orders: DumpOrders): void {
  for (const id of batch.policyIds(agent)) {
    const policy = kept.has(id) ? undefined : batch.policy(agent, id);
    if (policy === undefined) continue;
    batch.dropPolicy(policy);
    orders.drop(agent, id);
  }
}

function endDump(
  batch: ScaBatch,
  agent: string,
  { policyId, scanId }: { readonly policyId: string; readonly scanId: number },
  orders: DumpOrders,
  { onGivenUp }: ApplyParts,
): void {
  const known = batch.policy(agent, policyId);
  if (known === undefined) return;
  const policy = batch.summedUp(batch.keepScan(known, scanId));
  const { told } = policy.record;
  const isRight = told === undefined || isComplete(policy);
  const repeated = policy.record.repeated + (isRight ? 0 : 1);
  batch.putPolicy({ ...policy, record: { ...policy.record, repeated } });
  if (isRight) {
    orders.drop(agent, policyId);
  } else if (repeated <= MAX_REPEATED_DUMPS) {
    orders.want(agent, policyId, false);
  } else {
    orders.drop(agent, policyId);
    onGivenUp(policy);
  }
}

/** Whether the results that are stored are those of the last summary. */
function isComplete({ record }: OpenPolicy): boolean {
  return record.told !== undefined && record.results === record.told.hash;
}
