import type { PresenceRow } from '../../../lib/bus/contracts/db-presence.js';
import type { AgentRecord, AgentRow } from '../agent-record.js';
import type { Labels } from '../registry-store.js';

/** Members of a record that nodes tell each other as they are; the others are in shared records. */
const TOLD_MEMBERS = [
  'ip',
  'os',
  'uname',
  'version',
  'configSum',
  'mergedSum',
  'manager',
  'status',
  'statusCode',
  'disconnectionTime',
] as const satisfies readonly (keyof AgentRecord & keyof PresenceRow)[];

/** Bytes of a row besides its texts, about. */
const ROW_BYTES = 260;
const PAIR_BYTES = 6;

/** A row as other nodes are told it; undefined for one that no node has claimed. */
export function presenceRow(row: AgentRow, labels: Labels): PresenceRow | undefined {
  const { record, lastKeepAlive } = row;
  const { claim, nodeName, revision = 0 } = record;
  if (claim === undefined) return undefined;
  const told: Partial<Record<(typeof TOLD_MEMBERS)[number], unknown>> = {};
  for (const member of TOLD_MEMBERS) if (record[member] !== undefined) told[member] = record[member];
  return {
    ...{
      id: row.id,
      name: record.name,
      claim,
      node: nodeName,
      revision,
      labels: labels.map(([key, value]) => [key, value]),
    },
    ...(lastKeepAlive === undefined ? {} : { lastKeepAlive }),
    ...(told as Pick<PresenceRow, (typeof TOLD_MEMBERS)[number]>),
  };
}

/** About how many bytes it takes. */
export function presenceRowBytes({ ip = '', os, uname = '', node, manager = '', labels }: PresenceRow): number {
  let bytes = ROW_BYTES + ip.length + uname.length + node.length + manager.length;
  for (const text of Object.values(os ?? {})) bytes += (text?.length ?? 0) + PAIR_BYTES;
  for (const [key, value] of labels) bytes += 3 * (key.length + value.length) + PAIR_BYTES;
  return bytes;
}

/** The record with what a row tells. */
export function toldRecord(record: AgentRecord, told: PresenceRow): AgentRecord {
  const { claim, node, revision } = told;
  return { ...record, ...memberValues(told), nodeName: node, claim, revision };
}

/** Whether two records say the same of what nodes tell each other. */
export function sameTold(left: AgentRecord, right: AgentRecord): boolean {
  return TOLD_MEMBERS.every(
    (member) => left[member] === right[member] || (member === 'os' && sameSystem(left.os, right.os)),
  );
}

/** Whether a record says what a row tells. */
export function saysTheSame(record: AgentRecord, told: PresenceRow): boolean {
  return sameTold(record, toldRecord(record, told));
}

function memberValues(told: PresenceRow): Partial<AgentRecord> {
  return Object.fromEntries(TOLD_MEMBERS.map((member) => [member, told[member]])) as Partial<AgentRecord>;
}

function sameSystem(left: AgentRecord['os'], right: AgentRecord['os']): boolean {
  if (left === undefined || right === undefined) return left === right;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]) as Set<keyof typeof left>;
  return [...names].every((name) => left[name] === right[name]);
}
