import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifPresentSync } from '../files/if-present.js';
import { openRegularFileSync } from '../files/regular-file.js';

/*
 * A file of the log of the state, little-endian:
 *
 *   0  magic       "SVCSTATE"
 *   8  version     uint32, 1
 *  16  generation  float64, that of its name
 *  24  entries, behind which there may be anything:
 *
 *   0  length      uint32, of the payload
 *   4  part        uint32, of the state: what the payload belongs to
 *   8  checksum    CRC32 of all that is before it in the file, but for the checksums, and of the payload
 *  12  payload
 */
const MAGIC = Buffer.from('SVCSTATE', 'latin1');
const VERSION = 1;
export const STATE_HEADER_BYTES = 24;
const ENTRY_HEADER_BYTES = 12;
const SUMMED_OF_ENTRY = 8;

/** How much of a file counts, as a checkpoint says it. */
export type StateLogFile = {
  readonly generation: number;
  /** Bytes, with the header. */
  readonly length: number;
  /** That of the last entry; of the header when there is none. */
  readonly checksum: number;
};

/** Told of each entry that is whole. */
export type OnStateEntry = (part: number, payload: Buffer) => void;

export function stateLogName(generation: number): string {
  return `state.${String(generation)}`;
}

/** The generation of a file with this name; undefined when it is none of the log. */
export function stateLogGeneration(name: string): number | undefined {
  const digits = /^state\.(\d{1,15})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The header of a file, and its checksum. */
export function encodeStateHeader(generation: number): { readonly header: Buffer; readonly checksum: number } {
  const header = Buffer.alloc(STATE_HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(VERSION, 8);
  header.writeDoubleLE(generation, 16);
  return { header, checksum: crc32(header) };
}

/** What stands before a payload, and the checksum of all up to here. @param before that of what is before it */
export function encodeStateEntry(
  part: number,
  payload: Buffer,
  before: number,
): { readonly header: Buffer; readonly checksum: number } {
  const header = Buffer.alloc(ENTRY_HEADER_BYTES);
  header.writeUInt32LE(payload.length, 0);
  header.writeUInt32LE(part, 4);
  const checksum = crc32(payload, crc32(header.subarray(0, SUMMED_OF_ENTRY), before));
  header.writeUInt32LE(checksum, 8);
  return { header, checksum };
}

/**
 * Reads the entries of files one after the other. What is damaged is left out, and what is whole behind it is still given.
 * @returns what is wrong; undefined when all is as it was written
 * @throws the system's error when a file is there and cannot be read
 */
export function readStateLog(
  directory: string,
  files: readonly StateLogFile[],
  onEntry: OnStateEntry = () => {},
): string | undefined {
  let damage: string | undefined;
  for (const file of files) {
    const path = join(directory, stateLogName(file.generation));
    const opened = ifPresentSync(() => openRegularFileSync(path));
    let reason: string | undefined = 'it is not there';
    if (opened !== undefined) {
      try {
        reason = readEntries(opened.fd, file, onEntry);
      } finally {
        closeSync(opened.fd);
      }
    }
    if (reason !== undefined) damage ??= `'${path}': ${reason}`;
  }
  return damage;
}

function readEntries(
  fd: number,
  { generation, length, checksum }: StateLogFile,
  onEntry: OnStateEntry,
): string | undefined {
  const begin = encodeStateHeader(generation);
  if (!readExactly(fd, STATE_HEADER_BYTES, 0)?.equals(begin.header)) return 'it does not begin as a log of the state';
  let damage: string | undefined;
  let before = begin.checksum;
  for (let at = STATE_HEADER_BYTES; at < length;) {
    const header = readExactly(fd, ENTRY_HEADER_BYTES, at);
    const size = header?.readUInt32LE(0) ?? 0;
    const end = at + ENTRY_HEADER_BYTES + size;
    const payload = end <= length ? readExactly(fd, size, at + ENTRY_HEADER_BYTES) : undefined;
    if (header === undefined || payload === undefined) return damage ?? `it is cut off at byte ${String(at)}`;
    const part = header.readUInt32LE(4);
    const stored = header.readUInt32LE(8);
    if (encodeStateEntry(part, payload, before).checksum === stored) onEntry(part, payload);
    else damage ??= `the checksum at byte ${String(at)} is wrong`;
    before = stored;
    at = end;
  }
  return damage ?? (before === checksum ? undefined : 'it is not the one that the checkpoint was made with');
}

/** @returns undefined where the file ends before */
function readExactly(fd: number, length: number, at: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const count = readSync(fd, bytes, read, length - read, at + read);
    if (count === 0) return undefined;
    read += count;
  }
  return bytes;
}
