import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FimDatabase } from '../../../daemons/db/fim/fim-database.js';
import { fimHandlers } from '../../../daemons/db/fim/fim-handlers.js';
import type { FimListParams } from '../../../daemons/db/fim/fim-list.js';
import type { FimRow } from '../../../daemons/db/fim/fim-row.js';
import { fimMethods } from '../../../lib/bus/contracts/db-fim.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';

/** What an agent knows of a file; the rest has values of its own. */
export type FileFacts = {
  readonly content: string;
  readonly mtime: number;
  readonly inode: number | string;
  readonly perm?: string;
};

const digest = (algorithm: string, content: string): string => createHash(algorithm).update(content).digest('hex');

/** Attributes as agents send them in events (integrity-and-inventory.md 3.4, 3.6). */
export function fileAttributes({ content, mtime, inode, perm = 'rw-r--r--' }: FileFacts): Record<string, unknown> {
  const [md5, sha1, sha256] = ['md5', 'sha1', 'sha256'].map((name) => digest(name, content));
  const size = Buffer.byteLength(content);
  const text = [size, perm, '', 0, 0, 'root', 'root', mtime, inode, md5, sha1, sha256].join(':');
  return {
    type: 'file',
    size,
    perm,
    uid: '0',
    gid: '0',
    user_name: 'root',
    group_name: 'root',
    inode: String(inode),
    mtime,
    hash_md5: md5,
    hash_sha1: sha1,
    hash_sha256: sha256,
    checksum: digest('sha1', text),
  };
}

/** Text of the checksum of such a file. */
export function fileChecksum(facts: FileFacts): string {
  return String(fileAttributes(facts)['checksum']);
}

/** An event of queue 8 (4.2). */
export function fimEvent(
  type: 'added' | 'modified' | 'deleted',
  path: string,
  attributes: Record<string, unknown>,
  timestamp = 1_700_000_600,
): string {
  return JSON.stringify({
    type: 'event',
    data: { path, version: 2, mode: 'realtime', type, timestamp, attributes },
  });
}

/** A state of queue 5 (4.3). */
export function fimState(path: string, attributes: Record<string, unknown>, timestamp = 1_700_000_900): string {
  const data = { attributes: { ...attributes, attributes: '' }, index: path, timestamp };
  return JSON.stringify({ component: 'fim_file', data, type: 'state' });
}

/** A database of files on a directory of its own. */
export class FimKit {
  readonly logger = new RecordingLogger();
  readonly problems: (string | undefined)[] = [];
  readonly #known: Set<string>;
  #database: FimDatabase;
  #position = 0;

  private constructor(
    readonly directory: string,
    known: Set<string>,
    database: FimDatabase,
  ) {
    this.#known = known;
    this.#database = database;
  }

  static async open(agents: readonly string[] = ['001', '002']): Promise<FimKit> {
    const directory = join(mkdtempSync(join(tmpdir(), 'svc-fim-')), 'fim');
    const known = new Set(agents);
    const kit = new FimKit(directory, known, undefined as unknown as FimDatabase);
    kit.#database = await kit.#open();
    return kit;
  }

  get database(): FimDatabase {
    return this.#database;
  }

  get handlers(): ReturnType<typeof fimHandlers> {
    return fimHandlers(this.#database, () => NOW);
  }

  /** As after a stop and a start. */
  async reopen(): Promise<void> {
    await this.#database.close();
    this.#database = await this.#open();
  }

  async close(): Promise<void> {
    await this.#database.close();
    removeTree(join(this.directory, '..'));
  }

  unregister(agent: string): void {
    this.#known.delete(agent);
  }

  /** Applies events of queue 8, each at a position of its own. @returns the position then */
  events(agent: string, messages: readonly (string | Uint8Array)[], kind: 'syscheck' | 'rootcheck' = 'syscheck') {
    const operations = messages.map((message) => ({
      position: this.#position++,
      agent,
      kind,
      at: NOW,
      message: typeof message === 'string' ? Buffer.from(message) : message,
    }));
    return this.#database.apply({ journal: 'one', operations, upTo: this.#position });
  }

  /** Sends a message of queue 5. @returns the order that goes back; undefined when there is none */
  async sync(agent: string, message: string | Uint8Array): Promise<string | undefined> {
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    const { order } = await this.#database.sync.take(agent, bytes);
    return order === undefined ? undefined : Buffer.from(order).toString('latin1');
  }

  /** Stored entries of an agent by their paths, in the order of the bytes; of one component. */
  rows(agent: string, component: 'fim_file' | 'fim_registry_key' | 'fim_registry_value' = 'fim_file') {
    return new Map<string, FimRow>(
      this.#database.rows(agent, component).map(({ path, row }) => [path.toString('latin1'), plainRow(row)]),
    );
  }

  /** Number of changes by path. */
  changes(agent: string): Record<string, number> {
    return Object.fromEntries([...this.rows(agent)].map(([path, row]) => [path, row.changes]));
  }

  /** `fim.list`, through its contract. */
  async list(params: Partial<FimListParams>) {
    const { params: schema } = fimMethods['fim.list'];
    return this.handlers['fim.list'](schema.parse({ agent: '001', ...params }));
  }

  #open(): Promise<FimDatabase> {
    return FimDatabase.open({
      directory: this.directory,
      logger: this.logger,
      setProblem: (problem) => this.problems.push(problem),
      knows: (agent) => this.#known.has(agent),
      now: () => NOW,
    });
  }
}

/** Clock of the kit, epoch milliseconds. */
export const NOW = 1_795_220_400_000;

/** The columns as members of their own, to be compared as a whole. */
function plainRow(row: FimRow): FimRow {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(row)).filter((name) => name !== 'constructor');
  return Object.fromEntries(names.map((name) => [name, row[name as keyof FimRow]])) as unknown as FimRow;
}
