import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ifPresent } from '../files/if-present.js';
import { openRegularFile } from '../files/regular-file.js';
import { describeError } from '../log/describe-error.js';
import { compressedPath, type DatedName, datedPath, partsOf } from '../output/dated-files.js';
import type { LocalDay } from '../time/local-day.js';
import type { ReportReader } from './report-reader.js';

/** Bytes that are looked at in one go: a millisecond or a few, then others have their turn. */
const CHUNK_BYTES = 64 * 1024;

export type ReadDayOptions = {
  /** Ends it; what was read stays read. */
  readonly signal?: AbortSignal;
  /** Told of a file that cannot be read, or not to its end; the next one is read all the same. */
  readonly onDamage: (message: string) => void;
};

/**
 * Reads the dated files of a day, compressed or not, in the order they were written (rules-and-alerts.md 7.8). No link is followed.
 * @returns how many files there are
 * @throws the signal's reason
 */
export async function readDay(
  name: DatedName,
  day: LocalDay,
  reader: ReportReader,
  { signal, onDamage }: ReadDayOptions,
): Promise<number> {
  const parts = [...new Set(partsOf(name, day).map(({ part }) => part))].sort((a, b) => a - b);
  for (const part of parts) {
    const path = datedPath(name, day, part);
    try {
      // The plain file goes when the compressed one is whole: in this order one of the two is found.
      const found = (await readFile(path, reader, signal)) || (await readFile(compressedPath(path), reader, signal));
      if (!found) onDamage(`'${path}' is gone`);
    } catch (error) {
      signal?.throwIfAborted();
      onDamage(`'${path}' cannot be read to its end: ${describeError(error)}`);
    }
    reader.end();
  }
  return parts.length;
}

/** @returns whether there is such a file @throws NotRegularFileError; the file system's error; that of a damaged file */
async function readFile(path: string, reader: ReportReader, signal: AbortSignal | undefined): Promise<boolean> {
  const file = await ifPresent(() => openRegularFile(path));
  if (file === undefined) return false;
  const take = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) reader.push(chunk);
  };
  // The stream closes the file.
  const source = file.createReadStream({ highWaterMark: CHUNK_BYTES });
  const options = signal === undefined ? {} : { signal };
  if (path.endsWith('.gz')) await pipeline(source, createGunzip({ chunkSize: CHUNK_BYTES }), take, options);
  else await pipeline(source, take, options);
  return true;
}
