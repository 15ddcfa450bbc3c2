import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import { rowKey } from '../rows/row-keys.js';
import type { FimBatch } from './fim-batch.js';
import { componentKey } from './fim-component.js';
import { MAX_FINDING_BYTES, MAX_FINDINGS } from './fim-limits.js';

/** What rootcheck found, or a mark of its scan (integrity-and-inventory.md 9.4). */
export type RootcheckFinding = {
  readonly log: string;
  /** Epoch seconds at which it was told first and last. */
  readonly first: number;
  readonly last: number;
};

const packr = new Packr({ useRecords: false, moreTypes: false });

/** Notes that a finding was told. */
export function putFinding(
  batch: FimBatch,
  agent: string,
  message: Uint8Array,
  seconds: number,
): 'finding_too_large' | 'too_many_findings' | undefined {
  if (message.length > MAX_FINDING_BYTES) return 'finding_too_large';
  const component = componentKey(agent, 'rootcheck');
  const record = batch.ensureComponent(component);
  const key = findingKey(record.slot, message);
  const before = batch.finding(key);
  if (before === undefined && record.rows >= MAX_FINDINGS) return 'too_many_findings';
  const log = Buffer.from(message.buffer, message.byteOffset, message.length).toString('utf8');
  const first = before === undefined ? seconds : decodeFinding(before).first;
  batch.putFinding(key, Buffer.from(packr.pack([log, first, seconds])));
  if (before === undefined) batch.setComponent(component, { ...record, rows: record.rows + 1 });
  return undefined;
}

/** Key of a finding. */
export function findingKey(slot: number, message: Uint8Array): Buffer {
  return rowKey(slot, createHash('sha1').update(message).digest());
}

/** @param bytes of an entry of the table of findings */
export function decodeFinding(bytes: Buffer): RootcheckFinding {
  const [log = '', first = 0, last = 0] = packr.unpack(bytes) as [string?, number?, number?];
  return { log, first, last };
}
