import { readFileSync } from 'node:fs';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { writeFileDurably } from '../../lib/files/write-file-durably.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import { readSecurityBackup, type SecurityBackup, writeSecurityBackup } from '../rbac/security-backup.js';
import { currentBackup } from './restore-security.js';
import type { SecuritySettings } from './security-settings.js';

/** Time from a change to its copy, milliseconds: many changes at once are one copy. */
export const COPY_DELAY_MS = 2000;

const MODE = 0o600;

export type SecurityCopyParts = {
  readonly path: string;
  readonly store: RbacStore;
  readonly settings: SecuritySettings;
  readonly logger: Pick<Logger, 'error' | 'info'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/**
 * The last good state of users and permissions as a backup beside their store, so that a damaged store costs nobody's
 * access: written soon after each change, when it starts and when it stops, where it differs.
 */
export class SecurityCopy {
  readonly #parts: SecurityCopyParts;
  /** What the file holds, without the time. */
  #written: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(parts: SecurityCopyParts) {
    this.#parts = parts;
    const there = readCopy(parts.path);
    if (typeof there === 'object') this.#written = contentOf(there);
  }

  /** Something has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => void this.write(), COPY_DELAY_MS);
  }

  /** Writes the copy now where it differs. A failure is logged, once until it works again. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = this.#running.then(() => this.#write());
    return this.#running;
  }

  /** What is on the disk now, as a backup. @throws StoreError `damaged` */
  current(): SecurityBackup {
    const { store, settings, now } = this.#parts;
    return currentBackup(store, settings, now());
  }

  async #write(): Promise<void> {
    const { path, logger } = this.#parts;
    try {
      const backup = this.current();
      const content = contentOf(backup);
      if (content === this.#written) return;
      await writeFileDurably(path, writeSecurityBackup(backup), { mode: MODE });
      this.#written = content;
      if (this.#failed) logger.info(`The copy of users and permissions is written again: ${path}`);
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) logger.error(`The copy of users and permissions cannot be written: ${describeError(error)}`);
      this.#failed = true;
    }
  }
}

/** The automatic copy: a text says why it cannot be used, undefined that there is none. */
export function readCopy(path: string): SecurityBackup | string | undefined {
  try {
    const text = ifPresentSync(() => readFileSync(path, 'utf8'));
    return text === undefined ? undefined : readSecurityBackup(text);
  } catch (error) {
    return describeError(error);
  }
}

function contentOf({ settings, objects }: SecurityBackup): string {
  return JSON.stringify([settings, objects]);
}
