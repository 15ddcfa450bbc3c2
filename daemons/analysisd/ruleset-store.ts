import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { writeFileAtomically } from '../../lib/daemon/write-file-atomically.js';
import type { RulesetSources } from '../../lib/engine/load-ruleset.js';

const CURRENT = 'current';
const HASH = /^[0-9a-f]{64}$/;
const FILE_MODE = 0o640;
/** A stored ruleset that unpacks to more than this is not read: the public one has 4 MB. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

/**
 * The last ruleset that loaded, kept with the journal: a daemon that comes up while the files on disk are broken goes
 * on with it (product.md 10).
 */
export class RulesetStore {
  readonly #directory: string;

  /** @param directory `{home}/queue/journal/rulesets` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Keeps a ruleset as the last good one and forgets the others.
   * @returns its content hash
   * @throws Error of the file system
   */
  save(sources: RulesetSources): string {
    const text = JSON.stringify(sources);
    const hash = createHash('sha256').update(text).digest('hex');
    mkdirSync(this.#directory, { recursive: true, mode: 0o750 });
    const path = this.#path(hash);
    if (!existsSync(path)) {
      writeFileAtomically(path, gzipSync(text, { level: 1 }), { mode: FILE_MODE, durable: true });
    }
    writeFileAtomically(join(this.#directory, CURRENT), `${hash}\n`, { mode: FILE_MODE, durable: true });
    for (const name of readdirSync(this.#directory)) {
      if (name !== CURRENT && name !== `${hash}.json.gz`) rmSync(join(this.#directory, name), { force: true });
    }
    return hash;
  }

  /** The last good ruleset, or undefined when there is none or it cannot be read whole. */
  load(): RulesetSources | undefined {
    try {
      const hash = readFileSync(join(this.#directory, CURRENT), 'latin1').trim();
      if (!HASH.test(hash)) return undefined;
      const text = gunzipSync(readFileSync(this.#path(hash)), { maxOutputLength: MAX_UNPACKED_BYTES });
      if (createHash('sha256').update(text).digest('hex') !== hash) return undefined;
      return JSON.parse(text.toString('utf8')) as RulesetSources;
    } catch {
      return undefined;
    }
  }

  #path(hash: string): string {
    return join(this.#directory, `${hash}.json.gz`);
  }
}
