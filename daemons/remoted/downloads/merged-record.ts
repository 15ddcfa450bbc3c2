import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { ifPresent } from '../../../lib/files/if-present.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

const RECORD = 'var/download/merged.json';
const recordShape = z.object({ version: z.literal(1), groups: z.record(z.string(), z.string()) });

/**
 * Hashes of the merged files that were downloaded, by group. It outlives the process: after a start a group whose
 * merged file was downloaded must not be merged from its local files until the first download is through.
 */
export class MergedRecord {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #hashes = new Map<string, string>();
  #saving: Promise<void> = Promise.resolve();

  constructor(home: Home, logger: Logger) {
    this.#path = home.path(RECORD);
    this.#logger = logger;
  }

  async load(): Promise<void> {
    try {
      const text = await ifPresent(() => readFile(this.#path, 'utf8'));
      if (text === undefined) return;
      const { groups } = recordShape.parse(JSON.parse(text));
      for (const [group, hash] of Object.entries(groups)) this.#hashes.set(group, hash);
    } catch (error) {
      this.#logger.warn(`'${RECORD}' is left out, it cannot be read: ${describeError(error)}`);
    }
  }

  groups(): string[] {
    return [...this.#hashes.keys()];
  }

  get(group: string): string | undefined {
    return this.#hashes.get(group);
  }

  /** @param hash of what was downloaded; undefined forgets the group */
  async set(group: string, hash: string | undefined): Promise<void> {
    if (this.#hashes.get(group) === hash) return;
    if (hash === undefined) this.#hashes.delete(group);
    else this.#hashes.set(group, hash);
    this.#saving = this.#saving.then(async () => {
      try {
        const record = { version: 1, groups: Object.fromEntries(this.#hashes) };
        await writeFileDurably(this.#path, `${JSON.stringify(record)}\n`, { mode: 0o640 });
      } catch (error) {
        this.#logger.warn(`'${RECORD}' was not written: ${describeError(error)}`);
      }
    });
    await this.#saving;
  }
}
