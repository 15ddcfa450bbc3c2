import { isSafeSharedName, MERGED_FILE, MergedFileError, parseMergedFile } from '../../../lib/agentlink/merged-file.js';

/** Where the file that is being unpacked waits: it is there exactly while its contents may be half in place. */
export const PENDING_FILE = `${MERGED_FILE}.new`;

/** Folders in each other: a path of 200 characters (agents-and-groups.md 6.4) could otherwise hold a hundred. */
const MAX_DEPTH = 16;
/** Longest name that file systems take. */
const MAX_NAME_BYTES = 255;

/** What a merged file leaves in the directory of shared files. */
export type UnpackPlan = {
  /** Contents by relative path. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Relative paths, parents first. */
  readonly folders: ReadonlySet<string>;
};

/**
 * Says what a merged file leaves, so that nothing is touched for one that cannot be unpacked whole. Of a name that
 * comes twice the later content counts (agents-and-groups.md 6.3).
 * @throws MergedFileError, also for a name that would leave the directory
 */
export function planUnpack(content: Buffer): UnpackPlan {
  const files = new Map<string, Buffer>();
  const folders = new Set<string>();
  for (const entry of parseMergedFile(content)) {
    const parts = entry.name.split('/');
    checkName(entry.name, parts);
    files.set(entry.name, entry.content);
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join('/'));
  }
  for (const folder of folders) {
    if (files.has(folder)) throw new MergedFileError(`'${folder}' is a file and a folder`);
  }
  return { files, folders };
}

function checkName(name: string, parts: readonly string[]): void {
  const shown = JSON.stringify(name);
  if (!isSafeSharedName(name) || parts.some((part) => part === '' || part === '.')) {
    throw new MergedFileError(`invalid name of a shared file: ${shown}`);
  }
  if (parts[0] === MERGED_FILE || parts[0] === PENDING_FILE) {
    throw new MergedFileError(`a merged file cannot hold ${shown}`);
  }
  if (parts.length > MAX_DEPTH) throw new MergedFileError(`more than ${MAX_DEPTH} folders in each other: ${shown}`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) {
    throw new MergedFileError(`name longer than ${MAX_NAME_BYTES} bytes: ${shown}`);
  }
}
