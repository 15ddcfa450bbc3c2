import { readFileSync, statSync } from 'node:fs';
import { AccountNames, accountNames } from '../../lib/fim/scan/account-names.js';

/** Milliseconds after which the files of the host are looked at again: a new account is known at once, as people see it. */
const LOOK_EVERY_MS = 1000;

/**
 * Names of users and groups as the host has them now: its files are read again when they have changed. Asked for every
 * file that is recorded, so it looks at most once a second.
 */
export class HostNames {
  readonly #files: readonly [passwd: string, group: string];
  readonly #now: () => number;
  #names = new AccountNames(new Map(), new Map());
  #state = '';
  #lookedAt = -Infinity;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(files: readonly [passwd: string, group: string] = ['/etc/passwd', '/etc/group'], now?: () => number) {
    this.#files = files;
    this.#now = now ?? (() => performance.now());
  }

  /** As of now. */
  current(): AccountNames {
    const now = this.#now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#names;
    this.#lookedAt = now;
    const state = this.#files.map(stateOf).join('\n');
    if (state !== this.#state) {
      this.#state = state;
      const [passwd, group] = this.#files;
      this.#names = accountNames(textOf(passwd), textOf(group));
    }
    return this.#names;
  }
}

function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return '';
  }
}

/** A file that cannot be read has no names. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
