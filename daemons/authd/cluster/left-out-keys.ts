import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { withRegularFileSync } from '../../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import type { Home } from '../../../lib/home/home.js';
import { keyLine } from '../client-keys-document.js';

const DIRECTORY_MODE = 0o750;
/** They are keys. */
const MODE = 0o600;

/**
 * Keys that this home had and the cluster does not take, kept for the operator: one file a process in `backup/cluster`, with
 * lines as the key file has them.
 */
export class LeftOutKeys {
  readonly #home: Home;
  readonly #owner: { readonly uid: number; readonly gid: number } | undefined;
  /** Those that are on the disk. */
  #lines: ReadonlySet<string> = new Set();
  readonly #name: string;

  /** @param startedAt names the file */
  constructor(home: Home, startedAt: Date, owner?: { readonly uid: number; readonly gid: number }) {
    this.#home = home;
    this.#owner = owner;
    this.#name = `client.keys-${startedAt.toISOString().slice(0, 19).replaceAll(':', '-')}`;
  }

  /** Where they are, relative to the home. */
  get file(): string {
    return `backup/cluster/${this.#name}`;
  }

  /**
   * Keeps the keys, on the disk when it returns.
   * @returns whether there were some that are not kept yet
   * @throws the file system's error
   */
  keep(agents: readonly AgentKey[]): boolean {
    const lines = new Set([...this.#lines, ...agents.map(keyLine)]);
    if (lines.size === this.#lines.size) return false;
    this.#write(this.#name, Buffer.from([...lines].join(''), 'latin1'));
    this.#lines = lines;
    return true;
  }

  /**
   * Keeps a key file that is not whole before it is written anew: it may have lines that nobody else has.
   * @returns where it is, relative to the home; undefined when there is no file
   * @throws the file system's error
   */
  keepDamaged(): string | undefined {
    const path = this.#home.path('etc', 'client.keys');
    if (!existsSync(path)) return undefined;
    const name = `${this.#name}-damaged`;
    this.#write(
      name,
      withRegularFileSync(path, (file) => readFileSync(file)),
    );
    return `backup/cluster/${name}`;
  }

  #write(name: string, content: Buffer): void {
    mkdirSync(this.#home.path('backup', 'cluster'), { recursive: true, mode: DIRECTORY_MODE });
    writeFileAtomically(this.#home.path('backup', 'cluster', name), content, {
      mode: MODE,
      durable: true,
      ...(this.#owner === undefined ? {} : { owner: this.#owner }),
    });
  }
}
