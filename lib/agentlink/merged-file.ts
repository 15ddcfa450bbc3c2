import { createHash, hash } from 'node:crypto';

/** Name under which the files of a group travel. */
export const MERGED_FILE = 'merged.mg';

const LINE_FEED = 0x0a;
const FILE_MARK = 0x21;
const REMARK_MARK = 0x23;
/** Longest header line: a size and a path of 200 characters (agents-and-groups.md 6.4), with room. */
const MAX_HEADER_BYTES = 1024;
const HASH_CHARS = 8;
/** Length of the hash that names the folder of a list whose short one another list has. */
export const LONG_HASH_CHARS = 16;
/** Most files in one merged file: a few bytes each could otherwise become millions of objects. */
const MAX_ENTRIES = 65_536;

/** A file inside a merged file. */
export type MergedEntry = { readonly name: string; readonly content: Buffer };

/** A merged file that cannot be taken apart. */
export class MergedFileError extends Error {
  override readonly name = 'MergedFileError';
}

/**
 * Hash of an agent's groups: first 8 hex digits of SHA-256 of the list, in the order of priority (6.1).
 * @param characters for a longer one, where the short ones of two lists are the same
 */
export function groupHash(groups: readonly string[], characters: number = HASH_CHARS): string {
  return createHash('sha256').update(groups.join(',')).digest('hex').slice(0, characters);
}

/** Sum of a merged file, 32 hex digits: what an agent reports and a manager compares (6.7). */
export function mergedSum(content: Buffer): string {
  return hash('md5', content, 'hex');
}

/**
 * Builds a merged file (6.3).
 * @param header name of the group, or hash of the groups
 * @throws MergedFileError at a name that its readers could not tell from the rest
 */
export function buildMergedFile(header: string, entries: readonly MergedEntry[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`#${header}\n`)];
  for (const { name, content } of entries) {
    if (name === '' || name.includes('\n')) {
      throw new MergedFileError(`invalid name of a shared file: ${JSON.stringify(name)}`);
    }
    parts.push(Buffer.from(`!${content.length} ${name}\n`), content);
  }
  return Buffer.concat(parts);
}

/**
 * Takes a merged file apart. Contents share its memory. Names are as they stand there: who writes files checks them with
 * `isSafeSharedName`.
 * @param strict whether any line but headers and remarks is an error (a downloaded file); otherwise it is skipped (6.3)
 * @throws MergedFileError with the place of what is wrong
 */
export function parseMergedFile(bytes: Buffer, strict = false): MergedEntry[] {
  const entries: MergedEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, at);
    const next = end < 0 ? bytes.length : end + 1;
    if (bytes[at] !== FILE_MARK) {
      if (strict && bytes[at] !== REMARK_MARK) throw new MergedFileError(`no header at byte ${at}`);
      at = next;
      continue;
    }
    if (end < 0 || end - at > MAX_HEADER_BYTES) throw new MergedFileError(`header at byte ${at} does not end`);
    const header = /^!(\d{1,10}) (.+)$/s.exec(bytes.toString('utf8', at, end));
    if (header === null) throw new MergedFileError(`header at byte ${at} has no size and name`);
    if (entries.length === MAX_ENTRIES) throw new MergedFileError(`more than ${MAX_ENTRIES} files`);
    const size = Number(header[1]);
    if (next + size > bytes.length) throw new MergedFileError(`file at byte ${at} is cut short`);
    entries.push({ name: header[2] ?? '', content: bytes.subarray(next, next + size) });
    at = next + size;
  }
  return entries;
}

/** Whether a name of a shared file stays below the directory it is written to (6.9). */
export function isSafeSharedName(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !name.includes('..') && !/[\0\n\\]/.test(name);
}
