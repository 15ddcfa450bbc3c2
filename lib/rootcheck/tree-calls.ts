import { accessSync, closeSync, type Dir, type Dirent, opendirSync, realpathSync, statfsSync } from 'node:fs';
import { openRealDirectory } from '../files/open-real-directory.js';
import { bytesOf } from '../fim/byte-order.js';
import { type FileCalls, SYSTEM_CALLS } from '../fim/scan/file-calls.js';

/** A name in a directory. */
export type TreeEntry = {
  /** Byte string. */
  readonly name: string;
  /** Undefined where the file system does not tell. */
  readonly kind: 'directory' | 'file' | 'other' | undefined;
};

/** System calls that look at trees, so that tests can let a rootkit change their answers. They block. */
export interface TreeCalls extends FileCalls {
  /** Never through a link in the last place. @throws Error of the system */
  entries(path: string): Iterable<TreeEntry>;
  /** Number of the file system (statfs(2)). @throws Error of the system */
  fileSystem(path: string): number;
  /** @throws Error of the system where there is nothing */
  access(path: string): void;
  /** Where links lead. @throws Error of the system */
  real(path: string): string;
}

/** Names read of a directory at a time. */
const NAMES_AT_A_TIME = 1024;

/** Those of the system. */
export const SYSTEM_TREE: TreeCalls = {
  ...SYSTEM_CALLS,
  *entries(path) {
    const dir = openDirectory(path);
    try {
      for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
        yield { name: entry.name, kind: kindOf(entry) };
      }
    } finally {
      dir.closeSync();
    }
  },
  // Some systems give the number as a signed one.
  fileSystem: (path) => statfsSync(bytesOf(path)).type >>> 0,
  access: (path) => {
    accessSync(bytesOf(path));
  },
  real: (path) => realpathSync(bytesOf(path), { encoding: 'buffer' }).toString('latin1'),
};

function kindOf(entry: Dirent): TreeEntry['kind'] {
  if (entry.isDirectory()) return 'directory';
  if (entry.isFile()) return 'file';
  const device = entry.isBlockDevice() || entry.isCharacterDevice();
  return device || entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket() ? 'other' : undefined;
}

function openDirectory(path: string): Dir {
  const descriptor = openRealDirectory(bytesOf(path));
  try {
    // By its descriptor it is the very one that was opened.
    return opendirSync(`/proc/self/fd/${String(descriptor)}`, { encoding: 'latin1', bufferSize: NAMES_AT_A_TIME });
  } finally {
    closeSync(descriptor);
  }
}
