import { readFile } from 'node:fs/promises';
import { ifPresent } from '../../lib/files/if-present.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';

const MODE = 0o600;

/**
 * Groups that new agents asked for and svc-db does not know yet: the key file has no place for them. They are on disk
 * before the key is, so that an agent that was answered gets them whatever is killed.
 */
export class RequestedGroups {
  readonly #groups = new Map<string, readonly string[]>();
  #dirty = false;

  constructor(
    private readonly path: string,
    private readonly owner?: { readonly uid: number; readonly gid: number },
  ) {}

  /** Reads what an earlier process left. @throws the file system's error, unless the file is missing */
  async load(): Promise<void> {
    for (const line of ((await ifPresent(() => readFile(this.path, 'latin1'))) ?? '').split('\n')) {
      const match = /^(\d{3,8}) ([A-Za-z0-9_.,-]+)$/.exec(line);
      if (match?.[1] !== undefined && match[2] !== undefined) this.#groups.set(match[1], match[2].split(','));
    }
  }

  get(id: string): readonly string[] | undefined {
    return this.#groups.get(id);
  }

  set(id: string, groups: readonly string[]): void {
    this.#groups.set(id, groups);
    this.#dirty = true;
  }

  /** svc-db has them, or the agent is gone. */
  done(id: string): void {
    if (this.#groups.delete(id)) this.#dirty = true;
  }

  /** Puts the present state on disk. @throws the file system's error */
  save(): Promise<void> {
    return Promise.resolve().then(() => {
      if (!this.#dirty) return;
      const lines = [...this.#groups].map(([id, groups]) => `${id} ${groups.join(',')}\n`);
      writeFileAtomically(this.path, lines.join(''), {
        mode: MODE,
        durable: this.#groups.size > 0,
        ...(this.owner === undefined ? {} : { owner: this.owner }),
      });
      this.#dirty = false;
    });
  }
}
