import type { FamilyColumn } from './alert-segment.js';
import { ByteReader, ByteWriter } from './byte-codec.js';

const HEAD_BYTES = 4;
/** With so many tuples a number has one byte. */
const BYTE_TUPLES = 256;

/** A column as it is written: the tuples as JSON, then a number for each alert; none where there is one tuple. */
export function encodeColumn({ tuples, codes }: FamilyColumn, rows: number): Buffer {
  const text = Buffer.from(JSON.stringify(tuples));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(text.length);
  const used = codes.subarray(0, rows);
  const numbers =
    tuples.length <= 1
      ? []
      : [tuples.length <= BYTE_TUPLES ? Buffer.from(used) : Buffer.from(new Uint16Array(used).buffer)];
  return Buffer.concat([head, text, ...numbers]);
}

/** @throws SyntaxError or RangeError when it is none */
export function decodeColumn(bytes: Buffer, rows: number): FamilyColumn {
  const textBytes = bytes.readUInt32LE(0);
  const tuples = JSON.parse(bytes.toString('utf8', HEAD_BYTES, HEAD_BYTES + textBytes)) as FamilyColumn['tuples'];
  const numbers = bytes.subarray(HEAD_BYTES + textBytes);
  const codes = new Uint16Array(rows);
  if (tuples.length > BYTE_TUPLES) codes.set(new Uint16Array(new Uint8Array(numbers).buffer, 0, rows));
  else if (tuples.length > 1) codes.set(numbers.subarray(0, rows));
  return { tuples, codes };
}

/** Times as they are written: each as its distance from the one before. */
export function encodeTimes(times: Float64Array, rows: number): Buffer {
  const bytes = new ByteWriter(rows * 2);
  let last = 0;
  for (let row = 0; row < rows; row += 1) {
    const time = times[row] ?? 0;
    const distance = time - last;
    bytes.varint(distance < 0 ? -2 * distance - 1 : 2 * distance);
    last = time;
  }
  return bytes.bytes();
}

/** Reads back what `encodeTimes` made. */
export function decodeTimes(bytes: Buffer, rows: number): Float64Array {
  const reader = new ByteReader(bytes);
  const times = new Float64Array(rows);
  let last = 0;
  for (let row = 0; row < rows; row += 1) {
    const coded = reader.varint();
    last += coded % 2 === 1 ? -(coded + 1) / 2 : coded / 2;
    times[row] = last;
  }
  return times;
}
