import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { syncDirectoryNow } from '../../lib/files/sync-directory.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { StoredRuleset } from '../../lib/ruleset/read-ruleset.js';

const CURRENT = 'current';
const HASH = /^[0-9a-f]{64}$/;
const SUFFIX = '.json.gz';
const FILE_MODE = 0o640;
/** A stored ruleset that unpacks to more than this is not read: the public one has 4 MB. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

/**
 * Copies of rulesets, kept with the journal by their content hash: those that a checkpoint or a journal record names, so
 * that a replay uses the rules its events were received under, and the last one that loaded, with which a daemon goes on
 * that comes up while the files on disk are broken (product.md 10).
 */
export class RulesetLibrary {
  readonly #directory: string;

  /** @param directory `{home}/queue/journal/rulesets` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Keeps a ruleset, on the disk before this returns, as the last good one.
   * @returns its content hash
   * @throws Error of the file system
   */
  keep(ruleset: StoredRuleset): string {
    const text = textOf(ruleset);
    const hash = hashOf(text);
    mkdirSync(this.#directory, { recursive: true, mode: 0o750 });
    const path = this.#path(hash);
    if (existsSync(path) && this.#current() === hash) return hash;
    if (!existsSync(path)) {
      writeFileAtomically(path, gzipSync(text, { level: 1 }), { mode: FILE_MODE, durable: true });
    }
    writeFileAtomically(join(this.#directory, CURRENT), `${hash}\n`, { mode: FILE_MODE, durable: true });
    syncDirectoryNow(this.#directory);
    return hash;
  }

  /** The hash `keep` would give. */
  hashOf(ruleset: StoredRuleset): string {
    return hashOf(textOf(ruleset));
  }

  /** The ruleset of a hash, undefined when it is not there or cannot be read whole. */
  load(hash: string): StoredRuleset | undefined {
    if (!HASH.test(hash)) return undefined;
    try {
      const text = gunzipSync(readFileSync(this.#path(hash)), { maxOutputLength: MAX_UNPACKED_BYTES });
      return hashOf(text) === hash ? (JSON.parse(text.toString('utf8')) as StoredRuleset) : undefined;
    } catch {
      return undefined;
    }
  }

  /** The last ruleset that was kept, undefined when there is none or it cannot be read whole. */
  loadCurrent(): StoredRuleset | undefined {
    return this.load(this.#current());
  }

  /** Forgets all copies but these and the last one. @throws Error of the file system */
  retain(hashes: ReadonlySet<string>): void {
    if (!existsSync(this.#directory)) return;
    const current = this.#current();
    for (const name of readdirSync(this.#directory)) {
      const hash = name.slice(0, -SUFFIX.length);
      if (name === CURRENT || (name.endsWith(SUFFIX) && (hash === current || hashes.has(hash)))) continue;
      rmSync(join(this.#directory, name), { force: true });
    }
  }

  /** Hash of the last one that was kept; empty when that is not known. */
  #current(): string {
    try {
      return readFileSync(join(this.#directory, CURRENT), 'latin1').trim();
    } catch {
      return '';
    }
  }

  #path(hash: string): string {
    return join(this.#directory, hash + SUFFIX);
  }
}

function textOf({ decoders, rules, lists, mitre }: StoredRuleset): string {
  return JSON.stringify({ decoders, rules, lists, mitre });
}

function hashOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
