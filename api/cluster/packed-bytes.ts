import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { formatAgentId } from '../../lib/agentlink/agent-identity.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { PackedBytes } from '../../lib/bus/contracts/apid.js';

/** Below it compressing costs more than it saves. */
const WORTH_BYTES = 4096;
/** Bytes that something unpacked may have: stops a few kilobytes that become gigabytes. */
const MAX_UNPACKED = 512 * 1024 * 1024;
/** Fast: JSON of many rows shrinks to a tenth all the same. */
const LEVEL = 1;

/** Makes bytes small for their way between nodes. */
export async function packBytes(bytes: Uint8Array): Promise<PackedBytes> {
  if (bytes.length < WORTH_BYTES) return { gzip: false, bytes };
  return { gzip: true, bytes: await promisify(gzip)(bytes, { level: LEVEL }) };
}

/** @throws BusError `bad_params` for what no node has packed */
export async function unpackBytes({ gzip: isPacked, bytes }: PackedBytes): Promise<Buffer> {
  if (!isPacked) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED });
  } catch (error) {
    throw new BusError('bad_params', 'what another node packed cannot be unpacked', { cause: error });
  }
}

/** Ids of agents, four bytes each: what a hundred thousand take fits a message. */
export function packAgents(ids: readonly string[]): Uint8Array {
  const numbers = Buffer.alloc(ids.length * 4);
  for (const [index, id] of ids.entries()) numbers.writeUInt32LE(Number(id), index * 4);
  return numbers;
}

/** What {@link packAgents} packed. */
export function unpackAgents(bytes: Uint8Array): string[] {
  const numbers = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.floor(numbers.length / 4);
  return Array.from({ length: count }, (_none, index) => formatAgentId(numbers.readUInt32LE(index * 4)));
}
