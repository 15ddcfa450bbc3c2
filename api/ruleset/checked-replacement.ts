import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { syncDirectoryNow } from '../../lib/files/sync-directory.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import { attributesOf, putFile, removeFile } from './put-file.js';

const UNDO_SUFFIX = '.undo';
const UNDO_MODE = 0o600;
const UNDO_DIRECTORY_MODE = 0o750;
const NEWLINE = 10;

/** First line of an undo file; the previous content follows it. */
const undoHeader = z.object({
  /** Relative to the home. */
  path: z.string().min(1),
  /** SHA-256 of the content that is being tried. */
  candidate: z.string().length(64),
  /** Null when there was no file. */
  previous: z.object({ mode: z.int().min(0).max(0o777), uid: z.int().min(0), gid: z.int().min(0) }).nullable(),
});
type UndoHeader = z.infer<typeof undoHeader>;

/** Why a replacement did not begin, or could not be written. */
export class ReplacementError extends Error {
  override readonly name = 'ReplacementError';

  /**
   * `backup`: what is there could not be kept; `write`: the new content could not be put in place; `restore`: what was
   * there could not be put back, which {@link CheckedReplacement.recover} will try again.
   */
  constructor(
    readonly step: 'backup' | 'write' | 'restore',
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Replaces files whose new content can be judged only when it is in place, as a ruleset is (rules-and-alerts.md 9.7).
 *
 * Before the new content goes in, the old one is kept on disk in an undo file, which goes away when the new one has
 * been found good. A process that dies in between leaves the undo file, and {@link recover} puts the old content back:
 * nobody was told yet that the new one counts. Undo files lie in a directory of their own, because a configured pattern
 * may take any file beside a rule file for a rule file.
 */
export class CheckedReplacement {
  readonly #home: Home;
  readonly #directory: string;

  /** @param directory for undo files, relative to the home; made when needed */
  constructor(home: Home, directory: string) {
    this.#home = home;
    this.#directory = home.path(directory);
  }

  /**
   * Puts new content in place for good when `check` resolves; when it rejects, what was there before is back.
   * @param path relative to the home
   * @throws ReplacementError, or what `check` rejected with
   */
  async replace(path: string, content: string, check: () => Promise<void>): Promise<void> {
    const undo = this.#undoFile(path);
    const target = this.#home.path(path);
    const bytes = Buffer.from(content);
    attempt('restore', () => this.#recoverFile(undo));
    const previous = attempt('backup', () => this.#saveUndo(undo, path, bytes));
    try {
      attempt('write', () => {
        putFile(target, bytes, previous ?? undefined);
      });
      await check();
    } catch (error) {
      attempt('restore', () => this.#recoverFile(undo));
      throw error;
    }
    // Only now is the answer `yes`: the undo file must not come back after a power cut.
    removeFile(undo);
  }

  /**
   * Puts back what replacements that never ended have changed; to be called before the first one.
   * @returns paths that were put back, and what could not be, whose undo files stay
   */
  recover(): { readonly restored: readonly string[]; readonly problems: readonly string[] } {
    const restored: string[] = [];
    const problems: string[] = [];
    for (const name of this.#undoFiles()) {
      try {
        const path = this.#recoverFile(join(this.#directory, name));
        if (path !== undefined) restored.push(path);
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return { restored, problems };
  }

  /** Names of the undo files. One that was not written whole is removed: nothing had been replaced yet. */
  #undoFiles(): string[] {
    const names = ifPresentSync(() => readdirSync(this.#directory).sort()) ?? [];
    for (const name of names) if (name.endsWith('.tmp')) rmSync(join(this.#directory, name), { force: true });
    return names.filter((name) => name.endsWith(UNDO_SUFFIX));
  }

  #undoFile(path: string): string {
    return join(this.#directory, createHash('sha256').update(path).digest('hex') + UNDO_SUFFIX);
  }

  #saveUndo(undo: string, path: string, candidate: Buffer): UndoHeader['previous'] {
    const target = this.#home.path(path);
    const previous = attributesOf(target) ?? null;
    const header: UndoHeader = { path, candidate: sha256(candidate), previous };
    const head = Buffer.from(`${JSON.stringify(header)}\n`);
    mkdirSync(this.#directory, { recursive: true, mode: UNDO_DIRECTORY_MODE });
    const content = previous === null ? head : Buffer.concat([head, readFileSync(target)]);
    writeFileAtomically(undo, content, { mode: UNDO_MODE, durable: true });
    syncDirectoryNow(this.#directory);
    return previous;
  }

  /** @returns the path when something was put back */
  #recoverFile(undo: string): string | undefined {
    const saved = ifPresentSync(() => readFileSync(undo));
    if (saved === undefined) return undefined;
    const end = saved.indexOf(NEWLINE);
    const { path, candidate, previous } = undoHeader.parse(JSON.parse(saved.toString('utf8', 0, end)));
    if (this.#undoFile(path) !== undo) throw new Error(`${undo} is not the undo file of ${path}`);
    const target = this.#home.path(path);
    // What is there now may be the old content, or what somebody wrote since: neither is ours to change.
    const isCandidate = currentHash(target) === candidate;
    if (isCandidate && previous !== null) putFile(target, saved.subarray(end + 1), previous);
    if (isCandidate && previous === null) removeFile(target);
    removeFile(undo);
    return isCandidate ? path : undefined;
  }
}

function attempt<T>(step: ReplacementError['step'], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ReplacementError(step, error);
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function currentHash(path: string): string | undefined {
  return ifPresentSync(() => sha256(readFileSync(path)));
}
