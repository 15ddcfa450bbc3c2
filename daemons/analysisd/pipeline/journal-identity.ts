import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';

const FILE = 'journal.id';
const IDENTITY = /^[0-9a-f-]{36}$/;

/**
 * The name that others know this journal by: positions mean something only together with it. Made with the journal, so
 * that one begun anew has another.
 * @param directory `{home}/queue/journal`
 * @throws the file system's error
 */
export async function journalIdentity(directory: string): Promise<string> {
  const path = join(directory, FILE);
  const known = ifPresentSync(() => readFileSync(path, 'utf8'))?.trim() ?? '';
  if (IDENTITY.test(known)) return known;
  const identity = randomUUID();
  await writeFileDurably(path, `${identity}\n`, { mode: 0o640 });
  return identity;
}
