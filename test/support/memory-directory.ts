import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';

const SHARED_MEMORY = '/dev/shm';

/**
 * A directory for the temporary files of a test that writes and syncs thousands of times and is not about the disk: in
 * memory where the system has such a place.
 */
export function memoryDirectory(): string {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    return SHARED_MEMORY;
  } catch {
    return tmpdir();
  }
}
