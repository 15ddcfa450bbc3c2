import { readSync } from 'node:fs';

/** What closes a record of an output: a line end, or an empty line. */
export type RecordEnd = '\n' | '\n\n';

/** Bytes read at a time, from the end backwards. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Where the last whole record between two offsets of a file ends; `from` when there is none. A file of records of several
 * lines that holds none at all was written in another format (`<custom_alert_output>`), so its lines count.
 * @throws Error of the file system
 */
export function endOfRecords(fd: number, from: number, size: number, recordEnd: RecordEnd): number {
  const end = lastEnd(fd, from, size, recordEnd);
  return end === from && from === 0 && recordEnd === '\n\n' ? lastEnd(fd, from, size, '\n') : end;
}

function lastEnd(fd: number, from: number, size: number, recordEnd: RecordEnd): number {
  const wanted = Buffer.from(recordEnd, 'latin1');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - from));
  for (let end = size; end > from;) {
    const start = Math.max(from, end - buffer.length);
    const length = readSync(fd, buffer, 0, end - start, start);
    const last = buffer.subarray(0, length).lastIndexOf(wanted);
    if (last >= 0) return start + last + wanted.length;
    if (start === from) break;
    // An end may lie across the border of two reads.
    end = start + wanted.length - 1;
  }
  return from;
}
